// `npm start`: the whole system on this machine; only Node is required. In reading order: lock the
// data directory, start NATS and PostgreSQL, migrate, start the services, seed the demo program
// once, print the addresses, and stop everything in reverse at a signal.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BuiltFolder, keepBuilt } from '@laurel/docs-site/built-folder';
import { SITE_FOLDER } from '@laurel/docs-site/inputs';
import { commandChain, untilChainBreaks } from '@laurel/local-infrastructure/command-chain';
import { obtainNats } from '@laurel/local-infrastructure/nats-server';
import { PORTAL_FOLDER } from '@laurel/portal/inputs';
import { databaseVariableOf, migrationVariableOf, SERVICE_NAMES } from '@laurel/topology';
import { takeDataDirectory } from './stack/instance.ts';
import { type InternalChannels, internalChannels } from './stack/internal-channels.ts';
import { makeLogDirectory } from './stack/logs.ts';
import { natsProcess } from './stack/nats.ts';
import { isPortFree, keepPorts } from './stack/ports.ts';
import { type StackPostgres, startPostgres } from './stack/postgres.ts';
import { keepSecrets, writePrivate } from './stack/secrets.ts';
import { type DemoProgram, seedDemo } from './stack/seed.ts';
import {
  joinLaunches,
  migrateService,
  ROOT,
  restartOnChange,
  type ServiceLaunch,
  serviceProcess,
} from './stack/service-process.ts';
import { SERVICES, type ServiceShape, type StackAddresses } from './stack/services.ts';
import { makeSignInLink } from './stack/sign-in-link.ts';
import { StartFailure } from './stack/start-failure.ts';
import { supervise } from './stack/supervisor.ts';
import { offerServices } from './stack/takeover.ts';
import { keepWebhookCa } from './stack/webhook-ca.ts';

/**
 * When the services are ready, the start waits this long for a nats-server that is still being
 * downloaded.
 */
const NATS_WAIT_MS = 30_000;
/**
 * The variables of the user's shell that a service gets, besides its own settings.
 * NODE_EXTRA_CA_CERTS only adds authorities that the machine trusts. NODE_OPTIONS, proxies and
 * libpq's variables are meant for other programs and are not passed on.
 */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'NODE_EXTRA_CA_CERTS'];
const startedAt = Date.now();

// The reader of this output may exit (`npm start | head`). That must not end this process while its
// children run.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const dataDir = resolve(process.env.INIT_CWD ?? ROOT, process.env.LAUREL_DATA_DIR || join(ROOT, '.laurel'));
/** `npm run dev`: a service restarts when its sources change. */
const isWatching = process.argv.includes('--watch');
/** Whether all services run in one process (apps/one-process). */
const isOneProcess = process.argv.includes('--one-process');
const readyFile = join(dataDir, 'ready.json');
const stop = stopSignal();

try {
  await using stack = new AsyncDisposableStack();
  const announcement = await startStack(stack);
  stop.throwIfAborted();
  print(announcement);
  await aborted(stop);
  print('\nStopping: finishing what is in flight ...');
} catch (error) {
  if (!stop.aborted) fail(error);
}
if (stop.aborted) print('Stopped.');
process.exit();

async function startStack(stack: AsyncDisposableStack): Promise<string> {
  const httpPort = parsePort(process.env.LAUREL_HTTP_PORT || '8080');
  makeDataDirectory();
  const instance = stack.use(await takeDataDirectory(dataDir, httpPort, print));
  if (!(await isPortFree(httpPort))) {
    throw new StartFailure(
      `Port ${httpPort} is in use by another program: stop that one, or choose another with LAUREL_HTTP_PORT=8081 npm start.`,
    );
  }
  rmSync(readyFile, { force: true });
  stack.defer(() => rmSync(readyFile, { force: true }));
  const secrets = keepSecrets(dataDir, process.env);
  const ports = await keepPorts(join(dataDir, 'ports.json'));
  const webhookCa = await keepWebhookCa(dataDir, process.env.EGRESS_CA_FILE);
  const givenNats = process.env.NATS_URL;
  const channels = await internalChannels({ dataDir, natsPort: ports.nats, environment: process.env });
  const addresses: StackAddresses = {
    ports,
    httpPort,
    secrets,
    natsUrl: givenNats || `nats://127.0.0.1:${ports.nats}`,
    webhookCaFile: webhookCa.trusted,
  };

  const natsReady = givenNats
    ? undefined
    : startNats(stack, ports.nats, channels.natsConfigurationFile, instance.noteChild);

  const sites = keepSites();
  const databases = await findDatabases(stack, ports.postgres, secrets.databasePasswordSeed);
  stop.throwIfAborted();
  print('Bringing the databases up to date ...');
  const launches = new Map(
    SERVICES.map((service) => [service.name, launchOf(service, addresses, databases, channels)]),
  );
  await Promise.all([...launches.values()].map(migrate));
  stop.throwIfAborted();

  const inOneProcess = isOneProcess ? ' in one process' : '';
  print(`Starting ${SERVICES.map(({ name }) => name).join(', ')}${inOneProcess} ...`);
  const processes = isOneProcess ? [joinLaunches(launches, ports.gatewayAdmin)] : [...launches.values()];
  const services = processes.map((launch) => {
    const logFile = join(dataDir, 'logs', `${launch.name}.log`);
    const supervised = supervise(serviceProcess(launch, { logFile, onPid: instance.noteChild }), print);
    // Disposed in reverse order: the gateway drains before the services that it calls.
    stack.defer(() => supervised.stop());
    return { launch, supervised };
  });
  await untilStopped(Promise.all(services.map(({ supervised }) => supervised.firstReady)));
  if (natsReady !== undefined) await untilStopped(awaitNats(natsReady));

  if (!isOneProcess) {
    // A service can be taken over only where it has a process of its own.
    stack.use(await offerServices(dataDir, new Map(services.map((offered) => [offered.launch.name, offered])), print));
  }
  if (isWatching) for (const { launch, supervised } of services) stack.use(restartOnChange(launch, supervised, print));

  const baseUrl = `http://127.0.0.1:${httpPort}`;
  const demo = await seedOnce(baseUrl, secrets.operatorToken);
  await sites;
  stop.throwIfAborted();
  writePrivate(
    readyFile,
    `${JSON.stringify({ base_url: baseUrl, admin_url: `http://127.0.0.1:${ports.gatewayAdmin}`, operator_token: secrets.operatorToken, demo, webhook_ca: webhookCa }, null, 2)}\n`,
  );
  const signInLink = await makeSignInLink({
    baseUrl,
    operatorToken: secrets.operatorToken,
    developer: demo.developer,
  });
  return announce(baseUrl, demo, signInLink);
}

// --- databases ---

/** The environment that names a service's database, for the service and for its migrations. */
interface DatabaseSettings {
  readonly running: Readonly<Record<string, string>>;
  readonly migrating: Readonly<Record<string, string>>;
}

type Databases = ReadonlyMap<string, DatabaseSettings>;

/**
 * Returns the URLs from the environment. For a missing one, a database of the embedded server and
 * its two roles.
 */
async function findDatabases(stack: AsyncDisposableStack, port: number, passwordSeed: string): Promise<Databases> {
  const databases = new Map<string, DatabaseSettings>();
  const isAllowed = process.env.ALLOW_PRIVILEGED_DATABASE_ROLE || 'true';
  let postgres: StackPostgres | undefined;
  for (const name of SERVICE_NAMES) {
    const [databaseVariable, migrationVariable] = [databaseVariableOf(name), migrationVariableOf(name)];
    const given = process.env[databaseVariable];
    if (given) {
      const owner = process.env[migrationVariable];
      databases.set(name, {
        // A single URL must be the owner's, or no migration could run. The service then accepts
        // that role and warns in its log.
        running: { [databaseVariable]: given, ...(!owner && { ALLOW_PRIVILEGED_DATABASE_ROLE: isAllowed }) },
        migrating: { [databaseVariable]: given, ...(owner && { [migrationVariable]: owner }) },
      });
      if (!owner)
        print(`The ${name} service owns the database that it runs on: set ${migrationVariable} to separate the two.`);
      continue;
    }
    if (postgres === undefined) {
      print(
        existsSync(join(dataDir, 'postgres', 'cluster'))
          ? 'Starting PostgreSQL ...'
          : 'Creating and starting PostgreSQL ...',
      );
      const logFile = join(dataDir, 'logs', 'postgres.log');
      postgres = stack.use(await startPostgres({ dataDir, port, logFile, passwordSeed, print }));
    }
    const { ownerUrl, runningUrl } = await postgres.databaseOf(name);
    databases.set(name, {
      running: { [databaseVariable]: runningUrl },
      migrating: { [databaseVariable]: runningUrl, [migrationVariable]: ownerUrl },
    });
  }
  return databases;
}

async function migrate(launch: ServiceLaunch): Promise<void> {
  const failure = await migrateService(launch);
  if (failure === undefined) return;
  print(failure);
  throw new StartFailure(
    `The database of ${launch.name} could not be brought up to date: see the output above (${launch.databaseVariable} must be a database that can be reached and written).`,
  );
}

// --- NATS ---

/**
 * No service waits for the broker: on a machine without one everything else runs, and events stay
 * in the databases until a later start has one. Resolves when the server is ready, or when the
 * message that there is none has been printed.
 */
function startNats(
  stack: AsyncDisposableStack,
  port: number,
  configurationFile: string,
  onPid: (name: string, pid: number | undefined) => void,
): Promise<void> {
  const starting = (async () => {
    const file = await obtainNats(dataDir, print, stop);
    if (stop.aborted) return undefined;
    const logFile = join(dataDir, 'logs', 'nats.log');
    return supervise(natsProcess({ file, dataDir, port, configurationFile, logFile, onPid }), print);
  })();
  stack.defer(async () => (await starting.catch(() => undefined))?.stop());
  return starting
    .then((nats) => nats?.firstReady)
    .catch((error: unknown) => {
      if (stop.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      print(`Webhooks wait for a later start; everything else works. ${why}`);
    });
}

async function awaitNats(ready: Promise<void>): Promise<void> {
  const isLate = await Promise.race([
    ready.then(() => false),
    delay(NATS_WAIT_MS, true, { signal: stop, ref: false }).catch(() => false),
  ]);
  if (isLate)
    print('nats-server is still being downloaded: webhooks are sent once it runs, and everything else works.');
}

// --- the documentation site and the pages ---

/**
 * Builds the sites. Without its folder, a site such as `/docs` is an unknown path; all else works.
 */
async function keepSites(): Promise<void> {
  // One site after the other: two builds would take the processors from PostgreSQL's start.
  const { PORTAL_ENABLED, OPERATOR_PAGES_ENABLED, DOCS_ENABLED } = process.env;
  if (PORTAL_ENABLED !== 'false' || OPERATOR_PAGES_ENABLED !== 'false')
    await keepSite(PORTAL_FOLDER, '/portal and /operator');
  if (DOCS_ENABLED !== 'false') await keepSite(SITE_FOLDER, '/docs');
}

async function keepSite(site: BuiltFolder, path: string): Promise<void> {
  const failure = await keepBuilt(site, print, stop);
  if (failure !== undefined) print(`${failure}\nCould not build ${site.name}. What ${path} serves is unchanged.`);
}

// --- the demo program ---

/** Seeds a fresh database. A database that still accepts the demo's key is left unchanged. */
async function seedOnce(baseUrl: string, operatorToken: string): Promise<DemoProgram> {
  const file = join(dataDir, 'demo.json');
  const kept = readDemo(file);
  // An older release seeded a program without a developer who can sign in.
  if (kept?.developer !== undefined && (await isKnown(baseUrl, kept))) return kept;
  print('Creating a demo program with challenges and a tournament ...');
  const demo = await seedDemo({ baseUrl, operatorToken });
  writePrivate(file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

/** A damaged file counts as missing: the demo can be made again. */
function readDemo(file: string): DemoProgram | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const kept: DemoProgram | null = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof kept?.test_key === 'string') return kept;
  } catch {
    // The failure is reported below.
  }
  print(`${file} could not be read: another demo program takes its place.`);
  return undefined;
}

async function isKnown(baseUrl: string, demo: DemoProgram): Promise<boolean> {
  const response = await fetch(`${baseUrl}/v1/challenges`, { headers: { 'X-API-Key': demo.test_key } });
  await response.body?.cancel();
  return response.status !== 401;
}

function announce(baseUrl: string, demo: DemoProgram, signInLink: string): string {
  return `
Laurel is ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s.

  Base URL         ${baseUrl}          (documentation: ${baseUrl}/docs/)
  Portal           ${baseUrl}/portal
  Sign in once     ${signInLink}          (within 15 minutes; each start prints a new one)
  Operator         ${baseUrl}/operator          (sign in with the operator token)
  Test key         ${demo.test_key}
  Developer        ${demo.developer.email}, password in ${join(dataDir, 'demo.json')}
  Operator token   in ${join(dataDir, 'operator-token')}
  Everything       in ${readyFile}
  Logs             in ${join(dataDir, 'logs')}

  curl -H 'X-API-Key: ${demo.test_key}' '${baseUrl}/v1/challenges?player_ref=player-1'

"npm run demo" in a second terminal plays a partner's server. Ctrl-C stops everything.${
    isWatching ? '\nA service whose sources change is started again.' : ''
  }`;
}

// --- environment ---

function launchOf(
  service: ServiceShape,
  addresses: StackAddresses,
  databases: Databases,
  channels: InternalChannels,
): ServiceLaunch {
  const database = databases.get(service.name);
  return {
    name: service.name,
    main: join(ROOT, 'services', service.name, 'src', 'main.ts'),
    dataDir,
    databaseVariable: databaseVariableOf(service.name),
    environment: {
      ...baseEnvironment(),
      ...service.defaults,
      ...handedOn(service),
      ...database?.running,
      ...service.environment(addresses),
      ...channels.environmentOf(service.name),
    },
    migrationEnvironment: { ...baseEnvironment(), ...database?.migrating },
    readyUrl: service.readyUrl(addresses),
  };
}

function baseEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { NODE_COMPILE_CACHE: join(dataDir, 'compile-cache') };
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

function handedOn(service: ServiceShape): Record<string, string> {
  const given = service.settings.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new StartFailure(`LAUREL_HTTP_PORT must be a port number from 1 to 65535, and is "${text}".`);
  return port;
}

function makeDataDirectory(): void {
  try {
    makeLogDirectory(join(dataDir, 'logs'));
  } catch (error) {
    throw new StartFailure(
      `${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code}): choose a folder of your own with LAUREL_DATA_DIR.`,
    );
  }
}

// --- stopping ---

/** Aborted by the first signal, or when the `npm` that started this process has exited. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!controller.signal.aborted) {
      firstAt = Date.now();
      controller.abort();
    } else if (Date.now() - firstAt > 2_000) {
      // Ctrl-C and the signal that npm forwards arrive together, so only a later second one exits
      // immediately. The services then exit on their own.
      print('Exiting immediately.');
      process.exit(1);
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  void untilChainBreaks(commandChain(), controller.signal).then(() => controller.abort());
  return controller.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
}

async function untilStopped<T>(work: Promise<T>): Promise<T | undefined> {
  const result = await Promise.race([work, aborted(stop)]);
  stop.throwIfAborted();
  return result as T;
}

// --- helpers ---

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(error: unknown): void {
  process.exitCode = 1;
  process.stderr.write(
    error instanceof StartFailure
      ? `\n${error.message}\n`
      : `\n${error instanceof Error ? error.stack : String(error)}\n`,
  );
}
