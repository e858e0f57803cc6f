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
import { type CertificateAuthority, createCertificateAuthority } from '@laurel/private-ca';
import { NODE_FLAGS } from '@laurel/service/node-flags';
import pg from 'pg';
import { natsUrl } from './nats.ts';

/** The services of a stack, in the order in which they depend on each other. */
export const SERVICES = ['wallet', 'challenge', 'tournament', 'webhook', 'gateway'] as const;
export type Service = (typeof SERVICES)[number];

export interface StackOptions {
  /** How many processes of each service; 1 unless said. Replicas of a service share its database. */
  readonly replicas?: Partial<Record<Service, number>>;
  /** Configuration on top of the stack's own, for example `{ challenge: { ATTEMPT_TTL_SECONDS: '2' } }`. */
  readonly environment?: Partial<Record<Service, Readonly<Record<string, string>>>>;
  /** Lets `arm` plant failpoints. */
  readonly failpoints?: boolean;
  /** `true` starts a process again, on its port, as soon as it ended without `stop`. */
  readonly restart?: boolean;
  /** A folder that takes the services' output as files, in place of `logs`: reading it would cost a benchmark its own CPU. */
  readonly logDirectory?: string;
  /** A superuser's URL of the server that gets the databases; the test run's own server unless said. */
  readonly postgresUrl?: string;
  /** The NATS server that carries the events, under a prefix of the stack's own; the test run's own server unless said. */
  readonly natsUrl?: string;
}

/** Reads of one service's database, for assertions; `int8` comes back as bigint. */
export interface StackDatabase {
  readonly url: string;
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
  /** The server of this stack's events, and what its stream and subjects begin with. */
  readonly events: { readonly url: string; readonly prefix: string };
  database(service: Service): StackDatabase;
  /** Where a service's replicas answer gRPC, as clients take it. */
  address(service: Exclude<Service, 'gateway'>): string;
  /** The process ids of a service's running replicas. */
  pids(service: Service): readonly number[];
  /** Ends a replica at once (SIGKILL) and waits until it is gone. */
  kill(service: Service, replica?: number): Promise<void>;
  /** Ends a replica with SIGTERM and answers its exit code; it is not started again by itself. */
  stop(service: Service, replica?: number): Promise<number | null>;
  /** Starts an ended replica on the port that it had, and waits until it is ready; a running one is ended first. */
  restart(service: Service, replica?: number): Promise<void>;
  /** Resolves when the replica that runs now has ended. */
  onExit(service: Service, replica?: number): Promise<void>;
  /** Resolves when every process of the stack is ready. */
  ready(): Promise<void>;
  /** Plants a failpoint: the next process that comes by acts. */
  arm(failpoint: string, action: FailpointAction): void;
  /** Takes an armed failpoint away if it was not hit; answers whether it was. */
  disarm(failpoint: string): boolean;
  isFired(failpoint: string): boolean;
  /** What the replicas of a service printed (at least the newest 20,000 lines), over all their lives. */
  logs(service: Service): readonly string[];
}

const ROOT = new URL('../../../', import.meta.url);
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
  const replicas = (service: Service) => options.replicas?.[service] ?? 1;
  const ports = {
    wallet: await freePorts(replicas('wallet')),
    challenge: await freePorts(replicas('challenge')),
    tournament: await freePorts(replicas('tournament')),
    webhook: await freePorts(replicas('webhook')),
    gateway: await freePorts(replicas('gateway')),
  };
  const adminPorts = {
    wallet: await freePorts(replicas('wallet')),
    challenge: await freePorts(replicas('challenge')),
    tournament: await freePorts(replicas('tournament')),
    webhook: await freePorts(replicas('webhook')),
  };

  const ca = await createCertificateAuthority();
  const caFile = join(directory, 'webhook-ca.pem');
  writeFileSync(caFile, ca.certificate);
  const events = { url: options.natsUrl ?? natsUrl(), prefix: `stack${randomBytes(8).toString('hex')}` };
  const eventStream = { NATS_URL: events.url, EVENTS_PREFIX: events.prefix };
  const receiptSigningSeed = randomBytes(32).toString('base64');
  const common = options.failpoints ? { FAILPOINTS_DIR: directory } : {};
  const configuration: Record<Service, Record<string, string>> = {
    wallet: { ...common, WALLET_DATABASE_URL: urlOf(databases, 'wallet') },
    challenge: {
      ...common,
      ...eventStream,
      CHALLENGE_DATABASE_URL: urlOf(databases, 'challenge'),
      WALLET_ADDRESS: addressOf(ports.wallet),
      RECEIPT_SIGNING_SEED: receiptSigningSeed,
    },
    tournament: {
      ...common,
      ...eventStream,
      TOURNAMENT_DATABASE_URL: urlOf(databases, 'tournament'),
      WALLET_ADDRESS: addressOf(ports.wallet),
      RECEIPT_SIGNING_SEED: receiptSigningSeed,
    },
    webhook: {
      ...common,
      ...eventStream,
      WEBHOOK_DATABASE_URL: urlOf(databases, 'webhook'),
      WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
      // Receivers of a test are on this machine; and a minute and five between two sends are too long for one.
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_CA_FILE: caFile,
      WEBHOOK_RETRY_DELAYS_SECONDS: '1,2',
      WEBHOOK_SWEEP_MS: '200',
    },
    gateway: {
      ...common,
      GATEWAY_DATABASE_URL: urlOf(databases, 'gateway'),
      WALLET_ADDRESS: addressOf(ports.wallet),
      CHALLENGE_ADDRESS: addressOf(ports.challenge),
      TOURNAMENT_ADDRESS: addressOf(ports.tournament),
      WEBHOOK_ADDRESS: addressOf(ports.webhook),
      PORTAL_COOKIE_SECURE: 'false',
      OPERATOR_TOKEN: operatorToken,
      KEY_PEPPER: randomBytes(32).toString('base64'),
    },
  };

  const logs = new Map<Service, string[]>(SERVICES.map((service) => [service, []]));
  const processes = new Map<Service, ManagedProcess[]>();
  for (const service of SERVICES) {
    const log = logs.get(service) ?? [];
    const managed = ports[service].map((port, index) => {
      const admin = service === 'gateway' ? port : (adminPorts[service][index] ?? 0);
      return manageProcess({
        name: service,
        main: fileURLToPath(new URL(`services/${service}/src/main.ts`, ROOT)),
        environment: {
          ...configuration[service],
          ...(service === 'gateway'
            ? { HTTP_PORT: String(port) }
            : { GRPC_PORT: String(port), ADMIN_PORT: String(admin) }),
          ...options.environment?.[service],
        },
        readyUrl: `http://127.0.0.1:${admin}/readyz`,
        restart: options.restart ?? false,
        logFile: options.logDirectory === undefined ? undefined : join(options.logDirectory, `${service}-${index}.log`),
        onLine: (line) => {
          log.push(line);
          // Half goes at once, because moving the rest down costs as much as there is.
          if (log.length > 2 * MAX_LOG_LINES) log.splice(0, MAX_LOG_LINES);
        },
      });
    });
    processes.set(service, managed);
  }
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
    database: (service) => {
      const database = databases.get(service);
      if (database === undefined) throw new Error(`no database of ${service}`);
      return database;
    },
    address: (service) => addressOf(ports[service]),
    pids: (service) => (processes.get(service) ?? []).flatMap((managed) => managed.pid() ?? []),
    kill: (service, index) => replica(service, index).end('SIGKILL').then(ignore),
    stop: (service, index) => replica(service, index).stop(),
    restart: async (service, index) => {
      const managed = replica(service, index);
      await managed.stop('SIGKILL');
      await managed.start();
    },
    onExit: (service, index) => replica(service, index).onExit(),
    ready: async () => {
      await Promise.all(all.map((managed) => managed.ready()));
    },
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

function ignore(): void {}

function urlOf(databases: ReadonlyMap<Service, StackDatabase>, service: Service): string {
  return databases.get(service)?.url ?? '';
}

/** One address, or all of them in the form that grpc-js balances over. */
function addressOf(ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return ports.length > 1 ? `ipv4:${hosts}` : hosts;
}

// --- processes ---

interface ProcessShape {
  readonly name: string;
  readonly main: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly readyUrl: string;
  readonly restart: boolean;
  /** Takes the output; without it every line goes to `onLine`. */
  readonly logFile: string | undefined;
  readonly onLine: (line: string) => void;
}

interface ManagedProcess {
  start(): Promise<void>;
  ready(): Promise<void>;
  /** Signals the process and waits for its end; a stack that restarts will start it again. */
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

  const launch = (): void => {
    const output = shape.logFile === undefined ? 'pipe' : openSync(shape.logFile, 'a');
    const started = spawn(NODE, [...NODE_FLAGS, '--disable-warning=ExperimentalWarning', shape.main], {
      // Nothing of the test runner's environment leaks into a service.
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_COMPILE_CACHE: join(tmpdir(), 'laurel-compile-cache'),
        ...shape.environment,
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
    async start() {
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

/** Over a connection that ends with the answer: a gateway that is told to stop waits a second for whoever still holds one. */
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
/** Test files run side by side in workers: each has its own ports, or two would find the same one free and both take it. */
const FIRST_PORT = 12_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 10) * PORTS_PER_WORKER;

/** A port that was given away stays taken, though whoever got it may not listen on it yet. */
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
  await administer(serverUrl, async (client) => {
    const template = await ensureTemplate(client, serverUrl, service);
    await client.query(`create database ${name} template ${template}`);
  });
  cleanup.defer(() =>
    administer(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`)).then(
      ignore,
      ignore,
    ),
  );
  const url = withDatabase(serverUrl, name);
  const pool = new pg.Pool({ connectionString: url, max: 3, types, application_name: 'laurel-test' });
  pool.on('error', ignore);
  cleanup.defer(() => pool.end());
  return {
    url,
    query: async (text, values = []) => (await pool.query(text, [...values])).rows,
  };
}

async function ensureTemplate(client: pg.Client, serverUrl: string, service: Service): Promise<string> {
  const template = `template_${service}_${migrationsHash(service)}`;
  // One process makes it, the others wait; the lock goes with the session.
  await client.query('select pg_advisory_lock(hashtext($1))', [template]);
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (found.rowCount === 0) {
      const draft = `${template}_draft`;
      await client.query(`drop database if exists ${draft} with (force)`);
      await client.query(`create database ${draft}`);
      await migrate(service, withDatabase(serverUrl, draft));
      await client.query(`alter database ${draft} rename to ${template}`);
    }
    return template;
  } finally {
    await client.query('select pg_advisory_unlock(hashtext($1))', [template]);
  }
}

function migrationsHash(service: Service): string {
  const directory = new URL(`services/${service}/migrations/`, ROOT);
  const hash = createHash('sha256');
  for (const file of readdirSync(directory).sort()) hash.update(file).update(readFileSync(new URL(file, directory)));
  return hash.digest('hex').slice(0, 16);
}

function migrate(service: Service, url: string): Promise<void> {
  const main = fileURLToPath(new URL(`services/${service}/src/migrate.ts`, ROOT));
  const child = spawn(NODE, ['--disable-warning=ExperimentalWarning', main], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, [`${service.toUpperCase()}_DATABASE_URL`]: url },
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
