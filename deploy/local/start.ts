// `npm start`: the whole system on this machine, from nothing but Node. In reading order: take the data directory,
// start NATS and PostgreSQL, migrate, start the services, seed the demo program once, say where everything is, and
// stop it all in reverse when told to.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { obtainNats } from '@laurel/events/nats-server';
import { NODE_FLAGS } from '@laurel/service/node-flags';
import { takeDataDirectory } from './instance.ts';
import { natsProcess } from './nats.ts';
import { isPortFree, keepPorts } from './ports.ts';
import { type StackPostgres, startPostgres } from './postgres.ts';
import { chainBroken, commandChain } from './processes.ts';
import { keepSecrets, writePrivate } from './secrets.ts';
import { type DemoProgram, seedDemo } from './seed.ts';
import { SERVICES, type ServiceShape, type StackAddresses } from './services.ts';
import { StartFailure } from './start-failure.ts';
import { supervise } from './supervisor.ts';
import { keepWebhookCa } from './webhook-ca.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXIT_WITH_PARENT = fileURLToPath(new URL('exit-with-parent.mjs', import.meta.url));
/** How long services that are ready wait for a nats-server that is still being fetched. */
const NATS_WAIT_MS = 30_000;
const startedAt = Date.now();

// A reader of our output that went away (`npm start | head`) is no reason to die with children running.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const dataDir = resolve(process.env.INIT_CWD ?? ROOT, process.env.LAUREL_DATA_DIR || join(ROOT, '.laurel'));
const readyFile = join(dataDir, 'ready.json');
const stop = stopSignal();

try {
  await using stack = new AsyncDisposableStack();
  const announcement = await startStack(stack);
  stop.throwIfAborted();
  say(announcement);
  await aborted(stop);
  say('\nStopping: finishing what is in flight ...');
} catch (error) {
  if (!stop.aborted) fail(error);
}
if (stop.aborted) say('Stopped.');
process.exit();

async function startStack(stack: AsyncDisposableStack): Promise<string> {
  const httpPort = parsePort(process.env.LAUREL_HTTP_PORT || '8080');
  makeDataDirectory();
  const instance = stack.use(await takeDataDirectory(dataDir, httpPort, say));
  if (!(await isPortFree(httpPort))) {
    throw new StartFailure(
      `Port ${httpPort} is taken by another program: stop that one, or choose another with LAUREL_HTTP_PORT=8081 npm start.`,
    );
  }
  rmSync(readyFile, { force: true });
  stack.defer(() => rmSync(readyFile, { force: true }));
  const secrets = keepSecrets(dataDir, process.env);
  const ports = await keepPorts(join(dataDir, 'ports.json'));
  const webhookCa = await keepWebhookCa(dataDir, process.env.EGRESS_CA_FILE);
  const givenNats = process.env.NATS_URL;
  const addresses: StackAddresses = {
    ports,
    httpPort,
    secrets,
    natsUrl: givenNats || `nats://127.0.0.1:${ports.nats}`,
    webhookCaFile: webhookCa.trusted,
  };

  const natsReady = givenNats ? undefined : startNats(stack, ports.nats, instance.noteChild);

  const databases = await findDatabases(stack, ports.postgres);
  stop.throwIfAborted();
  say('Bringing the databases up to date ...');
  await Promise.all(SERVICES.map((service) => migrate(service, databases)));
  stop.throwIfAborted();

  say(`Starting ${SERVICES.map(({ name }) => name).join(', ')} ...`);
  const services = SERVICES.map((service) => {
    const supervised = supervise(
      {
        name: service.name,
        file: process.execPath,
        // The last argument tells the processes of two stacks apart.
        args: [
          ...NODE_FLAGS,
          '--import',
          EXIT_WITH_PARENT,
          join(ROOT, 'services', service.name, 'src', 'main.ts'),
          dataDir,
        ],
        environment: {
          ...baseEnvironment(),
          ...service.defaults?.(addresses),
          ...handedOn(service),
          ...databases(service),
          ...service.environment(addresses),
        },
        workingDirectory: ROOT,
        logFile: join(dataDir, 'logs', `${service.name}.log`),
        holdsChannel: true,
        isReady: () => answersOk(service.readyUrl(addresses)),
        onPid: instance.noteChild,
      },
      say,
    );
    // Disposed in reverse: the gateway drains before the services that it calls.
    stack.defer(() => supervised.stop());
    return supervised;
  });
  await untilStopped(Promise.all(services.map(({ firstReady }) => firstReady)));
  if (natsReady !== undefined) await untilStopped(awaitNats(natsReady));

  const baseUrl = `http://127.0.0.1:${httpPort}`;
  const demo = await seedOnce(baseUrl, secrets.operatorToken);
  stop.throwIfAborted();
  writePrivate(
    readyFile,
    `${JSON.stringify({ base_url: baseUrl, operator_token: secrets.operatorToken, demo, webhook_ca: webhookCa }, null, 2)}\n`,
  );
  return announce(baseUrl, demo);
}

// --- databases ---

type Databases = (service: ServiceShape) => Readonly<Record<string, string>>;

/** The URLs from the environment; where one is missing, a database of the embedded server. */
async function findDatabases(stack: AsyncDisposableStack, port: number): Promise<Databases> {
  const urls = new Map<string, string>();
  let postgres: StackPostgres | undefined;
  for (const { name, databaseVariable } of SERVICES) {
    const given = process.env[databaseVariable];
    if (given) {
      urls.set(databaseVariable, given);
      continue;
    }
    if (postgres === undefined) {
      say(
        existsSync(join(dataDir, 'postgres', 'cluster'))
          ? 'Starting PostgreSQL ...'
          : 'Creating and starting PostgreSQL ...',
      );
      postgres = stack.use(await startPostgres({ dataDir, port, logFile: join(dataDir, 'logs', 'postgres.log'), say }));
    }
    urls.set(databaseVariable, await postgres.database(name));
  }
  return ({ databaseVariable }) => ({ [databaseVariable]: urls.get(databaseVariable) ?? '' });
}

async function migrate(service: ServiceShape, databases: Databases): Promise<void> {
  const { code, output } = await runNode(
    [join(ROOT, 'services', service.name, 'src', 'migrate.ts')],
    databases(service),
  );
  if (code === 0) return;
  say(output.trimEnd());
  throw new StartFailure(
    `The database of ${service.name} could not be brought up to date: mend what is said above (${service.databaseVariable} must be a database that can be reached and written).`,
  );
}

function runNode(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  return new Promise((done, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...baseEnvironment(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code) => done({ code, output }));
  });
}

// --- NATS ---

/**
 * No service waits for the broker: on a machine that cannot get one everything else runs, and the events stay in the databases
 * until a later start has one. Resolves when the server is ready, or when it was said that there is none.
 */
function startNats(
  stack: AsyncDisposableStack,
  port: number,
  onPid: (name: string, pid: number | undefined) => void,
): Promise<void> {
  const starting = (async () => {
    const file = await obtainNats(dataDir, say, stop);
    if (stop.aborted) return undefined;
    return supervise(natsProcess({ file, dataDir, port, logFile: join(dataDir, 'logs', 'nats.log'), onPid }), say);
  })();
  stack.defer(async () => (await starting.catch(() => undefined))?.stop());
  return starting
    .then((nats) => nats?.firstReady)
    .catch((error: unknown) => {
      if (stop.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      say(`Webhooks wait for a later start; everything else works. ${why}`);
    });
}

async function awaitNats(ready: Promise<void>): Promise<void> {
  const isLate = await Promise.race([
    ready.then(() => false),
    delay(NATS_WAIT_MS, true, { signal: stop, ref: false }).catch(() => false),
  ]);
  if (isLate) say('nats-server is still on its way: webhooks are sent once it runs, and everything else works.');
}

// --- the demo program ---

/** Seeds a fresh database; one that still knows the demo's key is left as it is. */
async function seedOnce(baseUrl: string, operatorToken: string): Promise<DemoProgram> {
  const file = join(dataDir, 'demo.json');
  const kept: DemoProgram | undefined = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  // One that was seeded before developers could sign in has none.
  if (kept?.developer !== undefined && (await isKnown(baseUrl, kept))) return kept;
  say('Creating a demo program with challenges and a tournament ...');
  const demo = await seedDemo({ baseUrl, operatorToken });
  writePrivate(file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

async function isKnown(baseUrl: string, demo: DemoProgram): Promise<boolean> {
  const response = await fetch(`${baseUrl}/v1/challenges`, { headers: { 'X-API-Key': demo.test_key } });
  await response.body?.cancel();
  return response.status !== 401;
}

function announce(baseUrl: string, demo: DemoProgram): string {
  return `
Laurel is ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s.

  Base URL         ${baseUrl}          (reference: ${baseUrl}/docs)
  Test key         ${demo.test_key}
  Developer        ${demo.developer.email}, password in ${join(dataDir, 'demo.json')}
  Operator token   in ${join(dataDir, 'operator-token')}
  Everything       in ${readyFile}
  Logs             in ${join(dataDir, 'logs')}

  curl -H 'X-API-Key: ${demo.test_key}' '${baseUrl}/v1/challenges?player_ref=player-1'

"npm run demo" in a second terminal plays a partner's server. Ctrl-C stops everything.`;
}

// --- environment ---

function baseEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { NODE_COMPILE_CACHE: join(dataDir, 'compile-cache') };
  for (const name of ['PATH', 'HOME', 'TZ', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS']) {
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
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
  } catch (error) {
    throw new StartFailure(
      `${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code}): choose a folder of your own with LAUREL_DATA_DIR.`,
    );
  }
}

// --- stopping ---

/** Aborted by the first signal, or when the `npm` in front of this process is gone. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!controller.signal.aborted) {
      firstAt = Date.now();
      controller.abort();
    } else if (Date.now() - firstAt > 2_000) {
      // Ctrl-C and what npm passes on come together; a second one later means now. The services leave by themselves.
      say('Leaving at once.');
      process.exit(1);
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  void chainBroken(commandChain(), controller.signal).then(() => controller.abort());
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

// --- small things ---

async function answersOk(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.body?.cancel();
  return response.ok;
}

function say(line: string): void {
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
