import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { IdentityFiles } from '@laurel/grpc';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { type DatabaseRoles, prepareDatabase } from '@laurel/postgres/roles';
import { NODE_FLAGS } from '@laurel/service/node-flags';
import {
  addressesFor,
  byService,
  type CalledService,
  databaseVariableOf,
  isNatsUser,
  migrationVariableOf,
  type NatsUser,
  SERVICE_NAMES,
  type ServiceName,
  SERVICES as SHAPES,
} from '@laurel/topology';
import pg from 'pg';
import { natsUrl, urlAs } from './nats.ts';
import { cloneDatabase, testRoles } from './postgres.ts';
import { CLOCK_FILE_VARIABLE } from './shift-clock.ts';

/** The services of a stack, in the order in which they depend on each other. */
export const SERVICES = SERVICE_NAMES;
export type Service = ServiceName;

export interface StackOptions {
  /** How many processes of each service; 1 by default. Replicas of a service share its database. */
  readonly replicas?: Partial<Record<Service, number>>;
  /** Configuration on top of the stack's own, for example `{ challenge: { ATTEMPT_TTL_SECONDS: '2' } }`. */
  readonly environment?: Partial<Record<Service, Readonly<Record<string, string>>>>;
  /** How far the clocks of a service's machines are ahead, for the named services alone; `setClock` may change it. */
  readonly clockOffsetMs?: Partial<Record<Service, number>>;
  /** Lets `arm` plant failpoints. */
  readonly failpoints?: boolean;
  /** `true` restarts a process, on its port, as soon as it ended without `stop`. */
  readonly restart?: boolean;
  /** A folder for the services' output as files, in place of `logs`: reading it would cost a benchmark its own CPU. */
  readonly logDirectory?: string;
  /** A superuser's URL of the server that gets the databases; the test run's own server by default. */
  readonly postgresUrl?: string;
  /** The NATS server that carries the events, under a prefix of the stack's own; the test run's own server by default. */
  readonly nats?: { readonly url: string; readonly caFile?: string | undefined };
  /** `false` leaves the channels between services without certificates; so does LAUREL_INTERNAL_TLS=off, unless this is set. */
  readonly internalTls?: boolean;
}

/** A superuser's connection to one service's database, for assertions; `int8` is returned as bigint. */
export interface StackDatabase extends DatabaseRoles {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** What an armed failpoint does when it is hit; it is hit once, by one process. */
export type FailpointAction = 'kill' | 'throw' | 'lose-reply' | `delay:${number}`;

export interface Stack extends AsyncDisposable {
  /** The first gateway, without a path: `http://127.0.0.1:23456`. */
  readonly baseUrl: string;
  /** Every gateway replica. */
  readonly baseUrls: readonly string[];
  readonly operatorToken: string;
  /** Issues the certificates that this stack's webhooks trust, besides the system's: `startReceiver({ ca: stack.ca })`. */
  readonly ca: CertificateAuthority;
  /** The server of this stack's events as its operator, and what its stream and subjects begin with. */
  readonly events: { readonly url: string; readonly prefix: string; readonly caFile: string | undefined };
  /**
   * The files of a certificate that names this service, or any other identity that a test wants, of the stack's authority or another;
   * undefined where its channels have none.
   */
  certificateOf(name: string, authority?: CertificateAuthority): Promise<IdentityFiles | undefined>;
  /** The files that a service's processes read their certificate from. Throws where they have none. */
  filesOf(service: Service): IdentityFiles;
  database(service: Service): StackDatabase;
  /** The gRPC address of a service's replicas, in the form that clients accept. */
  address(service: CalledService): string;
  /** The process ids of a service's running replicas. */
  pids(service: Service): readonly number[];
  /** Kills a replica (SIGKILL) and waits until it has ended. */
  kill(service: Service, replica?: number): Promise<void>;
  /** Ends a replica with SIGTERM and returns its exit code; it is not restarted automatically. */
  stop(service: Service, replica?: number): Promise<number | null>;
  /**
   * Starts an ended replica on the port that it had, and waits until it is ready; a running one is ended first. `environment`
   * replaces those values of its configuration from then on.
   */
  restart(service: Service, replica?: number, environment?: Readonly<Record<string, string>>): Promise<void>;
  /** Resolves when the replica that runs now has ended. */
  onExit(service: Service, replica?: number): Promise<void>;
  /** Resolves when every process of the stack is ready. */
  ready(): Promise<void>;
  /** Sets the clock of a service's machines, while it runs, to be so far ahead of this one's; `clockOffsetMs` must name the service. */
  setClock(service: Service, offsetMs: number): void;
  /** Where each replica of a service answers `/healthz`, `/readyz` and `/metrics`. */
  adminUrls(service: Service): readonly string[];
  /** Plants a failpoint: the next process that hits it acts. */
  arm(failpoint: string, action: FailpointAction): void;
  /** Removes an armed failpoint if it was not hit; returns whether it was hit. */
  disarm(failpoint: string): boolean;
  isFired(failpoint: string): boolean;
  /** The output of a service's replicas (at least the newest 20,000 lines), over all their restarts. */
  logs(service: Service): readonly string[];
}

const ROOT = new URL('../../../', import.meta.url);
const SHIFT_CLOCK = new URL('./shift-clock.ts', import.meta.url).href;
const NODE = fileURLToPath(new URL('node_modules/.bin/node', ROOT));
const READY_DEADLINE_MS = 45_000;
const STOP_DEADLINE_MS = 12_000;
const MAX_LOG_LINES = 20_000;

/**
 * Starts the services as real processes against fresh databases, and waits until all are ready.
 * Disposing ends the processes by their ids and drops the databases.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const postgresUrl = options.postgresUrl ?? process.env.LAUREL_TEST_POSTGRES_URL;
  if (postgresUrl === undefined) throw new Error('startStack needs options.postgresUrl or LAUREL_TEST_POSTGRES_URL');

  await using cleanup = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'laurel-stack-'));
  folders.add(directory);
  cleanup.defer(() => {
    rmSync(directory, { recursive: true, force: true });
    folders.delete(directory);
  });

  const databases = new Map<Service, StackDatabase>();
  for (const service of SERVICES) databases.set(service, await createServiceDatabase(postgresUrl, service, cleanup));

  const operatorToken = randomBytes(24).toString('base64url');
  const { ports, adminPorts } = await findPorts(options);

  const ca = await createCertificateAuthority();
  const caFile = join(directory, 'webhook-ca.pem');
  writeFileSync(caFile, ca.certificate);
  const { certificateOf, files, channelOf } = await issueIdentities(options, directory);
  const { url: eventsUrl = natsUrl(), caFile: eventsCaFile } = options.nats ?? {};
  const events = { url: eventsUrl, prefix: `stack${randomBytes(8).toString('hex')}`, caFile: eventsCaFile };
  const eventStreamOf = (user: NatsUser) => ({
    NATS_URL: urlAs(user, events.url),
    EVENTS_PREFIX: events.prefix,
    ...(events.caFile !== undefined && { NATS_CA_FILE: events.caFile }),
  });
  const configuration = ownSettings({ operatorToken, caFile });
  const environmentOf = (service: Service): Record<string, string> => ({
    ...(options.failpoints && { FAILPOINTS_DIR: directory }),
    ...channelOf(service),
    ...(isNatsUser(service) && eventStreamOf(service)),
    ...addressesFor(service, (called) => addressOf(ports[called])),
    [databaseVariableOf(service)]: urlOf(databases, service),
    ...configuration[service],
  });

  const clockFile = (service: Service) => join(directory, `${service}-clock`);
  const setClock = (service: Service, offsetMs: number): void => {
    // Renamed into place, so that no process can read half of it.
    writeFileSync(`${clockFile(service)}.draft`, String(offsetMs));
    renameSync(`${clockFile(service)}.draft`, clockFile(service));
  };
  const hasOwnClock = (service: Service) => options.clockOffsetMs?.[service] !== undefined;
  for (const service of SERVICES.filter(hasOwnClock)) setClock(service, options.clockOffsetMs?.[service] ?? 0);

  const logs = new Map<Service, string[]>(SERVICES.map((service) => [service, []]));
  const processes = manageReplicas(options, {
    logs,
    ports,
    adminPorts,
    environmentOf,
    clockFileOf: (service) => (hasOwnClock(service) ? clockFile(service) : undefined),
  });
  const all = [...processes.values()].flat();
  cleanup.defer(async () => {
    await Promise.all(all.map((managed) => managed.dispose()));
  });
  await Promise.all(all.map((managed) => managed.start()));

  const replica = (service: Service, index = 0): ManagedProcess => {
    const managed = processes.get(service)?.[index];
    if (managed === undefined) throw new Error(`this stack has no replica ${index} of ${service}`);
    return managed;
  };
  const fileOf = (failpoint: string): string => {
    if (!options.failpoints) throw new Error('this stack was started without failpoints');
    return join(directory, failpoint);
  };
  const baseUrls = ports.gateway.map((port) => `http://127.0.0.1:${port}`);
  const owned = cleanup.move();
  return {
    baseUrl: baseUrls[0] ?? '',
    baseUrls,
    operatorToken,
    ca,
    events,
    certificateOf,
    filesOf: (service) => {
      const own = files.get(service);
      if (own === undefined) throw new Error(`${service} has no certificate in this stack`);
      return own;
    },
    database: (service) => {
      const database = databases.get(service);
      if (database === undefined) throw new Error(`no database of ${service}`);
      return database;
    },
    address: (service) => addressOf(ports[service]),
    pids: (service) => (processes.get(service) ?? []).flatMap((managed) => managed.pid() ?? []),
    kill: (service, index) => replica(service, index).end('SIGKILL').then(ignore),
    stop: (service, index) => replica(service, index).stop(),
    restart: async (service, index, environment) => {
      const managed = replica(service, index);
      await managed.stop('SIGKILL');
      await managed.start(environment);
    },
    onExit: (service, index) => replica(service, index).onExit(),
    ready: async () => {
      await Promise.all(all.map((managed) => managed.ready()));
    },
    setClock: (service, offsetMs) => {
      if (!hasOwnClock(service)) throw new Error(`the clock of ${service} is the machine's own`);
      setClock(service, offsetMs);
    },
    adminUrls: (service) => adminPorts[service].map((port) => `http://127.0.0.1:${port}`),
    arm: (failpoint, action) => {
      const file = fileOf(failpoint);
      // Renamed into place, so that no process can read half of it.
      const draft = join(directory, `.draft-${randomInt(1e12)}`);
      writeFileSync(draft, action);
      renameSync(draft, file);
    },
    disarm: (failpoint) => {
      const file = fileOf(failpoint);
      const fired = !existsSync(file);
      rmSync(file, { force: true });
      return fired;
    },
    isFired: (failpoint) => !existsSync(fileOf(failpoint)),
    logs: (service) => logs.get(service) ?? [],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Free ports of each service's replicas. */
async function findPorts({ replicas }: StackOptions) {
  const ports = new Map<Service, readonly number[]>();
  const adminPorts = new Map<Service, readonly number[]>();
  for (const service of SERVICES) {
    ports.set(service, await freePorts(replicas?.[service] ?? 1));
    adminPorts.set(service, await freePorts(replicas?.[service] ?? 1));
  }
  return {
    ports: byService((service) => ports.get(service) ?? []),
    adminPorts: byService((service) => adminPorts.get(service) ?? []),
  };
}

/** The certificate of each service, and the settings that name its files; none where channels are without TLS. */
async function issueIdentities({ internalTls }: StackOptions, directory: string) {
  const hasTls = internalTls ?? process.env.LAUREL_INTERNAL_TLS !== 'off';
  const certificateOf = hasTls ? await createCertificates(directory) : async () => undefined;
  const files = new Map<Service, IdentityFiles>();
  for (const service of SERVICES) {
    const issued = await certificateOf(service);
    if (issued !== undefined) files.set(service, issued);
  }
  const channelOf = (service: Service): Record<string, string> => {
    const issued = files.get(service);
    if (issued === undefined) return {};
    return { GRPC_TLS_CERT_FILE: issued.certificate, GRPC_TLS_KEY_FILE: issued.key, GRPC_TLS_CA_FILE: issued.ca };
  };
  return { certificateOf, files, channelOf };
}

/** The settings of each service besides those that derive from the table of services. */
function ownSettings({ operatorToken, caFile }: { readonly operatorToken: string; readonly caFile: string }) {
  const owner = { RECEIPT_SIGNING_SEED: randomBytes(32).toString('base64') };
  const settings: Record<Service, Record<string, string>> = {
    wallet: {},
    challenge: owner,
    tournament: owner,
    webhook: {
      WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
      // Receivers of a test are on this machine; and the default retry delays of one and five minutes are too long for a test.
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_CA_FILE: caFile,
      WEBHOOK_RETRY_DELAYS_SECONDS: '1,2',
      WEBHOOK_SWEEP_MS: '200',
    },
    integration: {
      INTEGRATION_SECRET_KEY: randomBytes(32).toString('base64'),
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_CA_FILE: caFile,
      INTEGRATION_SWEEP_MS: '200',
    },
    gateway: {
      PORTAL_COOKIE_SECURE: 'false',
      // Tests send setup requests faster than people do, and files share a stack: tests of a limit set it themselves.
      OPERATOR_RATE_LIMIT_PER_MINUTE: '1000000',
      SANDBOX_RATE_LIMIT_PER_MINUTE: '1000000',
      PORTAL_RATE_LIMIT_PER_MINUTE: '1000000',
      API_FAILURES_PER_MINUTE: '1000000',
      OPERATOR_TOKEN: operatorToken,
      KEY_PEPPER: randomBytes(32).toString('base64'),
    },
  };
  return settings;
}

/** The processes of each service, not yet started. */
function manageReplicas(
  options: StackOptions,
  shape: {
    readonly logs: ReadonlyMap<Service, string[]>;
    readonly ports: Readonly<Record<Service, readonly number[]>>;
    readonly adminPorts: Readonly<Record<Service, readonly number[]>>;
    readonly environmentOf: (service: Service) => Record<string, string>;
    readonly clockFileOf: (service: Service) => string | undefined;
  },
): ReadonlyMap<Service, readonly ManagedProcess[]> {
  const { logs, ports, adminPorts, environmentOf, clockFileOf } = shape;
  const processes = new Map<Service, ManagedProcess[]>();
  for (const service of SERVICES) {
    const log = logs.get(service) ?? [];
    const clock = clockFileOf(service);
    const managed = ports[service].map((port, index) => {
      const admin = adminPorts[service][index] ?? 0;
      return manageProcess({
        name: service,
        main: fileURLToPath(new URL(`services/${service}/src/main.ts`, ROOT)),
        environment: {
          ...environmentOf(service),
          ADMIN_PORT: String(admin),
          [SHAPES[service].serves === 'http' ? 'HTTP_PORT' : 'GRPC_PORT']: String(port),
          ...(clock !== undefined && { [CLOCK_FILE_VARIABLE]: clock }),
          ...options.environment?.[service],
        },
        preload: clock === undefined ? undefined : SHIFT_CLOCK,
        readyUrl: `http://127.0.0.1:${admin}/readyz`,
        restart: options.restart ?? false,
        logFile: options.logDirectory === undefined ? undefined : join(options.logDirectory, `${service}-${index}.log`),
        onLine: (line) => {
          log.push(line);
          // Drops half in one step, because moving the rest down costs in proportion to its length.
          if (log.length > 2 * MAX_LOG_LINES) log.splice(0, MAX_LOG_LINES);
        },
      });
    });
    processes.set(service, managed);
  }
  return processes;
}

function ignore(): void {}

/** Writes certificates of an authority that the stack alone trusts. */
async function createCertificates(
  directory: string,
): Promise<(name: string, from?: CertificateAuthority) => Promise<IdentityFiles>> {
  const authority = await createCertificateAuthority('Laurel test stack');
  let count = 0;
  return async (name, from = authority) => {
    const issued = await from.issue({ names: [], service: name });
    count += 1;
    const files = {
      certificate: join(directory, `${name}-${count}-certificate.pem`),
      key: join(directory, `${name}-${count}-key.pem`),
      ca: join(directory, `${name}-${count}-ca.pem`),
    };
    writeFileSync(files.ca, authority.certificate);
    writeFileSync(files.certificate, issued.certificate);
    writeFileSync(files.key, issued.key, { mode: 0o600 });
    return files;
  };
}

function urlOf(databases: ReadonlyMap<Service, StackDatabase>, service: Service): string {
  return databases.get(service)?.runningUrl ?? '';
}

/** One address, or all of them in the form that grpc-js balances load over. */
function addressOf(ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return ports.length > 1 ? `ipv4:${hosts}` : hosts;
}

// --- processes ---

interface ProcessShape {
  readonly name: string;
  readonly main: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A module that is loaded before `main`. */
  readonly preload?: string | undefined;
  readonly readyUrl: string;
  readonly restart: boolean;
  /** Gets the output; without it every line goes to `onLine`. */
  readonly logFile: string | undefined;
  readonly onLine: (line: string) => void;
}

interface ManagedProcess {
  start(changes?: Readonly<Record<string, string>>): Promise<void>;
  ready(): Promise<void>;
  /** Signals the process and waits for its end; a stack with `restart` starts it again. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** As `end`, and it stays down until `start`. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  onExit(): Promise<void>;
  pid(): number | undefined;
  dispose(): Promise<void>;
}

/** Children of this process, and the folders of its stacks: they go when it ends, which the test runner does with a signal. */
const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.once('exit', endAll);
process.once('SIGTERM', () => {
  endAll();
  process.kill(process.pid, 'SIGTERM');
});

function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

export function manageProcess(shape: ProcessShape): ManagedProcess {
  let child: ChildProcess | undefined;
  let exited: Promise<number | null> = Promise.resolve(null);
  let isWanted = false;
  let lastLines: string[] = [];
  let environment = shape.environment;

  const launch = (): void => {
    const output = shape.logFile === undefined ? 'pipe' : openSync(shape.logFile, 'a');
    const preload = shape.preload === undefined ? [] : ['--import', shape.preload];
    const started = spawn(NODE, [...NODE_FLAGS, '--disable-warning=ExperimentalWarning', ...preload, shape.main], {
      // No variable of the test runner's environment leaks into a service.
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_COMPILE_CACHE: join(tmpdir(), 'laurel-compile-cache'),
        ...environment,
      },
      stdio: ['ignore', output, output],
    });
    if (typeof output === 'number') closeSync(output);
    running.add(started);
    lastLines = [];
    for (const stream of [started.stdout, started.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        lastLines.push(line);
        if (lastLines.length > 30) lastLines.shift();
        shape.onLine(line);
      });
    }
    child = started;
    exited = new Promise((resolve) => {
      const ended = (code: number | null): void => {
        running.delete(started);
        if (child === started) child = undefined;
        resolve(code);
        if (isWanted && shape.restart) launch();
      };
      started.once('exit', ended);
      started.once('error', () => ended(null));
    });
  };

  const awaitReady = async (): Promise<void> => {
    const deadline = Date.now() + READY_DEADLINE_MS;
    while (Date.now() < deadline) {
      if (child === undefined && !shape.restart) break;
      if (await answersOk(shape.readyUrl)) return;
      await delay(25);
    }
    throw new Error(`${shape.name} did not become ready; its last lines were:\n${lastLines.join('\n')}`);
  };

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = exited;
    const target = child;
    if (target === undefined) return ending;
    target.kill(signal);
    const late = setTimeout(() => target.kill('SIGKILL'), STOP_DEADLINE_MS);
    const code = await ending;
    clearTimeout(late);
    return code;
  };

  return {
    async start(changes = {}) {
      environment = { ...environment, ...changes };
      isWanted = true;
      if (child === undefined) launch();
      await awaitReady();
    },
    ready: awaitReady,
    end,
    async stop(signal = 'SIGTERM') {
      isWanted = false;
      return end(signal);
    },
    onExit: () => exited.then(ignore),
    pid: () => child?.pid,
    async dispose() {
      isWanted = false;
      await end('SIGTERM');
    },
  };
}

/** Over a connection that ends with the response: a stopping gateway waits a second for open connections. */
async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/**
 * Ports below the range from which the kernel takes the ports of outgoing connections: a killed service must find its
 * port free when it comes back, and a client that reconnects to it must not meet itself.
 */
const PORTS_PER_WORKER = 2_000;
/** Test files run side by side in workers: each has its own ports, or two would find the same one free and both use it. */
const FIRST_PORT = 12_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 10) * PORTS_PER_WORKER;

/** A port that was handed out stays reserved, even before its process listens on it. */
const givenAway = new Set<number>();

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(FIRST_PORT, FIRST_PORT + PORTS_PER_WORKER);
    if (givenAway.has(port)) continue;
    givenAway.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

// --- databases ---

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? (text: string) => BigInt(text) : pg.types.getTypeParser(oid, format ?? 'text'),
};

/** A fresh database of a service, cloned from a template that its own `migrate.ts` made once for these migrations. */
async function createServiceDatabase(
  serverUrl: string,
  service: Service,
  cleanup: AsyncDisposableStack,
): Promise<StackDatabase> {
  const name = `stack_${service}_${randomBytes(8).toString('hex')}`;
  const roles = testRoles(serverUrl, service, name);
  await administer(serverUrl, async (client) => {
    const template = await ensureTemplate(client, serverUrl, service);
    await cloneDatabase(client, template, name, roles);
  });
  cleanup.defer(() =>
    administer(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`)).then(
      ignore,
      ignore,
    ),
  );
  const pool = new pg.Pool({
    connectionString: withDatabase(serverUrl, name),
    max: 3,
    types,
    application_name: 'laurel-test',
  });
  pool.on('error', ignore);
  cleanup.defer(() => pool.end());
  return {
    ...roles,
    query: async (text, values = []) => (await pool.query(text, [...values])).rows,
  };
}

async function ensureTemplate(client: pg.Client, serverUrl: string, service: Service): Promise<string> {
  const template = `template_${service}_${schemaHash(service)}`;
  // One process makes it, the others wait; the lock goes with the session.
  await client.query('select pg_advisory_lock(hashtext($1))', [template]);
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (found.rowCount === 0) {
      const draft = `${template}_draft`;
      await client.query(`drop database if exists ${draft} with (force)`);
      const roles = testRoles(serverUrl, service, draft);
      await prepareDatabase(serverUrl, roles);
      await migrate(service, roles);
      await client.query(`alter database ${draft} rename to ${template}`);
    }
    return template;
  } finally {
    await client.query('select pg_advisory_unlock(hashtext($1))', [template]);
  }
}

function schemaHash(service: Service): string {
  const directory = new URL(`services/${service}/migrations/`, ROOT);
  const hash = createHash('sha256').update(readFileSync(new URL('../grants.sql', directory)));
  for (const file of readdirSync(directory).sort()) hash.update(file).update(readFileSync(new URL(file, directory)));
  return hash.digest('hex').slice(0, 16);
}

function migrate(service: Service, { ownerUrl, runningUrl }: DatabaseRoles): Promise<void> {
  const main = fileURLToPath(new URL(`services/${service}/src/migrate.ts`, ROOT));
  const child = spawn(NODE, ['--disable-warning=ExperimentalWarning', main], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      [databaseVariableOf(service)]: runningUrl,
      [migrationVariableOf(service)]: ownerUrl,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`migrating ${service} failed with exit code ${code}:\n${output}`)),
    );
  });
}

async function administer<T>(serverUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'postgres') });
  client.on('error', ignore);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.toString();
}
