import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IdentityFiles } from '@laurel/grpc';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import {
  addressesFor,
  byService,
  type CalledService,
  databaseVariableOf,
  isNatsUser,
  type NatsUser,
  SERVICES as SHAPES,
} from '@laurel/topology';
import { withServicePrefix } from '@laurel/topology/one-process';
import { removeWithThisProcess } from './at-exit.ts';
import { CHECKOUT, fileOfService, SERVICES, type Service } from './checkout.ts';
import { freePorts } from './free-ports.ts';
import { type ManagedProcess, manageProcess } from './managed-process.ts';
import { natsUrl, urlForUser } from './nats.ts';
import { appendToLog, manageOneProcess, type ProcessesShape } from './one-process.ts';
import { POSTGRES_URL_VARIABLE } from './postgres.ts';
import { CLOCK_FILE_VARIABLE } from './shift-clock.ts';
import { createServiceDatabase, migrateDatabase, type StackDatabase } from './stack-databases.ts';
import { type Failpoints, failpointsIn, replaceFile } from './stack-failpoints.ts';
import { issueIdentities } from './stack-identities.ts';
import { secretSettings, testSettings } from './stack-settings.ts';

export interface StackOptions {
  /**
   * `one-process` runs all services in each process, instead of one service per process. By default
   * LAUREL_TEST_SHAPE=one-process selects this shape. A replica is then a whole process, so
   * whatever ends one service ends all services of that process.
   */
  readonly shape?: 'one-process' | 'six-processes';
  /** With the shape `one-process`, the services that run in separate processes. */
  readonly apart?: readonly Service[];
  /**
   * The number of processes of each service; 1 by default. Replicas of a service share its
   * database.
   */
  readonly replicas?: Partial<Record<Service, number>>;
  /**
   * Settings that replace the stack's own, for example `{ challenge: { ATTEMPT_TTL_SECONDS: '2' }
   * }`.
   */
  readonly environment?: Partial<Record<Service, Readonly<Record<string, string>>>>;
  /** How far the clocks of the named services' machines are ahead; `setClock` may change it. */
  readonly clockOffsetMs?: Partial<Record<Service, number>>;
  /** Lets `arm` plant failpoints. */
  readonly failpoints?: boolean;
  /** `true` restarts a process on its port as soon as it ends without `stop`. */
  readonly restart?: boolean;
  /**
   * Services that a test kills or restarts often. For each process of such a service, a second
   * process stands by with its modules loaded. This costs memory, and the next start takes much
   * less time.
   */
  readonly standby?: readonly Service[];
  /**
   * A folder for the services' output, instead of `logs`. A benchmark uses it because reading the
   * output would cost CPU.
   */
  readonly logDirectory?: string;
  /**
   * The superuser's URL of the database server, or one URL per service; by default the test run's
   * server.
   */
  readonly postgresUrl?: string | Readonly<Record<Service, string>>;
  /**
   * The NATS server for the events, under the stack's own prefix; by default the test run's server.
   */
  readonly nats?: { readonly url: string; readonly caFile?: string | undefined };
  /**
   * The checkout of another release, with its packages. The code of this checkout migrates the
   * databases and runs every process until `replace`.
   */
  readonly checkout?: string;
  /**
   * `false` leaves the channels between services without certificates. By default
   * LAUREL_INTERNAL_TLS=off does the same.
   */
  readonly internalTls?: boolean;
}

export interface Stack extends AsyncDisposable, Failpoints {
  /** The first gateway, without a path: `http://127.0.0.1:23456`. */
  readonly baseUrl: string;
  /** The base URLs of all gateway replicas. */
  readonly baseUrls: readonly string[];
  readonly operatorToken: string;
  /**
   * Issues certificates that this stack's webhooks trust in addition to the system's:
   * `startReceiver({ ca: stack.ca })`.
   */
  readonly ca: CertificateAuthority;
  /** The host where the services reach the receivers of a test. */
  readonly receiverHost: string;
  /**
   * The server of this stack's events, with the operator's URL, and the prefix of the stack's
   * stream and subjects.
   */
  readonly events: { readonly url: string; readonly prefix: string; readonly caFile: string | undefined };
  /**
   * Issues a certificate for this service, or for any other identity, by the stack's authority or
   * by the given one; undefined if the stack's channels have no certificates.
   */
  certificateOf(name: string, authority?: CertificateAuthority): Promise<IdentityFiles | undefined>;
  /**
   * Returns the certificate files of a service's processes. Throws if the processes have no
   * certificate.
   */
  filesOf(service: Service): IdentityFiles;
  database(service: Service): StackDatabase;
  /** The gRPC address of a service's replicas, in the form that clients accept. */
  address(service: CalledService): string;
  /** The process ids of a service's running replicas. */
  pids(service: Service): readonly number[];
  /** Kills a replica (SIGKILL) and waits until it has ended. */
  kill(service: Service, replica?: number): Promise<void>;
  /** Ends a replica with SIGTERM and returns its exit code; it stays down. */
  stop(service: Service, replica?: number): Promise<number | null>;
  /**
   * Starts a replica on its former port, and waits until the replica is ready. A replica that runs
   * is ended first. Later starts keep the values in `environment`.
   */
  restart(service: Service, replica?: number, environment?: Readonly<Record<string, string>>): Promise<void>;
  /**
   * Ends a replica like a deployment (SIGTERM, drain), and starts it on the same port with another
   * checkout's code. Resolves when the replica is ready.
   */
  replace(service: Service, replica: number, checkout: string): Promise<void>;
  /**
   * Applies a checkout's migrations to the service's database, as its owner, while the service
   * runs.
   */
  migrate(service: Service, checkout: string): Promise<void>;
  /** Resolves when the current process of the replica has ended. */
  onExit(service: Service, replica?: number): Promise<void>;
  /** Resolves when every process of the stack is ready. */
  ready(): Promise<void>;
  /**
   * Sets the clocks of a service's machines this far ahead while they run. The option
   * `clockOffsetMs` must name the service.
   */
  setClock(service: Service, offsetMs: number): void;
  /** Returns where each replica of a service answers `/healthz`, `/readyz` and `/metrics`. */
  adminUrls(service: Service): readonly string[];
  /** The output of a service's replicas over all restarts: at least the newest 20,000 lines. */
  logs(service: Service): readonly string[];
}

const SHIFT_CLOCK = new URL('./shift-clock.ts', import.meta.url).href;

/**
 * Starts the services as real processes on new databases, and waits until all are ready. Disposing
 * ends the processes by their ids and drops the databases.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { postgresUrl = process.env[POSTGRES_URL_VARIABLE], checkout = CHECKOUT } = options;
  if (postgresUrl === undefined) throw new Error(`startStack needs options.postgresUrl or ${POSTGRES_URL_VARIABLE}`);
  const serverOf = (service: Service) => (typeof postgresUrl === 'string' ? postgresUrl : postgresUrl[service]);

  await using cleanup = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'laurel-stack-'));
  cleanup.defer(removeWithThisProcess(directory));

  const databases = new Map<Service, StackDatabase>();
  for (const service of SERVICES) {
    databases.set(service, await createServiceDatabase(serverOf(service), service, { checkout, cleanup }));
  }

  const databaseOf = (service: Service): StackDatabase => {
    const database = databases.get(service);
    if (database === undefined) throw new Error(`no database of ${service}`);
    return database;
  };

  const operatorToken = randomBytes(24).toString('base64url');
  const isOneProcess = (options.shape ?? process.env.LAUREL_TEST_SHAPE) === 'one-process';
  const apart = isOneProcess ? (options.apart ?? []) : SERVICES;
  const together = SERVICES.filter((service) => !apart.includes(service));
  const { ports, adminPorts } = await findPorts(options, together);

  const ca = await createCertificateAuthority();
  const caFile = join(directory, 'webhook-ca.pem');
  writeFileSync(caFile, ca.certificate);
  const { certificateOf, files, channelOf } = await issueIdentities(options, directory);
  const { url: eventsUrl = natsUrl(), caFile: eventsCaFile } = options.nats ?? {};
  const events = { url: eventsUrl, prefix: `stack${randomBytes(8).toString('hex')}`, caFile: eventsCaFile };
  const eventStreamOf = (user: NatsUser) => ({
    NATS_URL: urlForUser(user, events.url),
    EVENTS_PREFIX: events.prefix,
    ...(events.caFile !== undefined && { NATS_CA_FILE: events.caFile }),
  });
  const secrets = secretSettings(operatorToken);
  const settings = testSettings({ receivers: '127.0.0.0/8', caFile });
  const environmentOf = (service: Service): Record<string, string> => ({
    ...(options.failpoints && { FAILPOINTS_DIR: directory }),
    ...channelOf(service),
    ...(isNatsUser(service) && eventStreamOf(service)),
    ...addressesFor(service, (called) => addressOf(ports[called])),
    [databaseVariableOf(service)]: databaseOf(service).runningUrl,
    ...secrets[service],
    ...settings[service],
  });

  const clockFile = (service: Service) => join(directory, `${service}-clock`);
  const setClock = (service: Service, offsetMs: number) => replaceFile(clockFile(service), String(offsetMs));
  const hasOwnClock = (service: Service) => options.clockOffsetMs?.[service] !== undefined;
  for (const service of SERVICES.filter(hasOwnClock)) setClock(service, options.clockOffsetMs?.[service] ?? 0);

  const logs = new Map<Service, string[]>(SERVICES.map((service) => [service, []]));
  const clockFileOf = (service: Service) => (hasOwnClock(service) ? clockFile(service) : undefined);
  const shape = { logs, ports, adminPorts, environmentOf, clockFileOf };
  const processes = new Map([...manageReplicas(apart, options, shape), ...manageOneProcess(together, options, shape)]);
  const all = [...new Set([...processes.values()].flat())];
  cleanup.defer(async () => {
    await Promise.all(all.map((managed) => managed.dispose()));
  });
  await Promise.all(all.map((managed) => managed.start()));

  const replica = (service: Service, index = 0): ManagedProcess => {
    const managed = processes.get(service)?.[index];
    if (managed === undefined) throw new Error(`this stack has no replica ${index} of ${service}`);
    return managed;
  };
  const baseUrls = ports.gateway.map((port) => `http://127.0.0.1:${port}`);
  const owned = cleanup.move();
  return {
    baseUrl: baseUrls[0] ?? '',
    baseUrls,
    operatorToken,
    ca,
    receiverHost: '127.0.0.1',
    events,
    certificateOf,
    filesOf: (service) => {
      const own = files.get(service);
      if (own === undefined) throw new Error(`${service} has no certificate in this stack`);
      return own;
    },
    database: databaseOf,
    address: (service) => addressOf(ports[service]),
    pids: (service) => (processes.get(service) ?? []).flatMap((managed) => managed.pid() ?? []),
    kill: (service, index) => replica(service, index).end('SIGKILL').then(ignore),
    stop: (service, index) => replica(service, index).stop(),
    restart: async (service, index, environment) => {
      const managed = replica(service, index);
      await managed.stop('SIGKILL');
      await managed.start({
        environment: together.includes(service) ? withServicePrefix(service, environment ?? {}) : environment,
      });
    },
    replace: async (service, index, to) => {
      const managed = replica(service, index);
      await managed.stop();
      await managed.start({ main: fileOfService(service, 'src/main.ts', to) });
    },
    migrate: (service, to) => migrateDatabase(service, databaseOf(service), to),
    onExit: (service, index) => replica(service, index).onExit(),
    ready: async () => {
      await Promise.all(all.map((managed) => managed.ready()));
    },
    setClock: (service, offsetMs) => {
      if (!hasOwnClock(service)) throw new Error(`the clock of ${service} is the machine's own`);
      setClock(service, offsetMs);
    },
    adminUrls: (service) => adminPorts[service].map((port) => `http://127.0.0.1:${port}`),
    ...failpointsIn(options.failpoints ? directory : undefined),
    logs: (service) => logs.get(service) ?? [],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Finds free ports for each service's replicas, and one admin port for each process. */
async function findPorts({ replicas }: StackOptions, together: readonly Service[]) {
  const ports = new Map<Service, readonly number[]>();
  const adminPorts = new Map<Service, readonly number[]>();
  const mostReplicas = Math.max(1, ...Object.values(replicas ?? {}));
  const common = await freePorts(mostReplicas);
  for (const service of SERVICES) {
    const isJoined = together.includes(service);
    const count = isJoined ? mostReplicas : (replicas?.[service] ?? 1);
    ports.set(service, await freePorts(count));
    adminPorts.set(service, isJoined ? common : await freePorts(count));
  }
  return {
    ports: byService((service) => ports.get(service) ?? []),
    adminPorts: byService((service) => adminPorts.get(service) ?? []),
  };
}

/** The processes of each service, before their start. */
function manageReplicas(
  services: readonly Service[],
  options: StackOptions,
  shape: ProcessesShape,
): ReadonlyMap<Service, readonly ManagedProcess[]> {
  const { logs, ports, adminPorts, environmentOf, clockFileOf } = shape;
  const processes = new Map<Service, ManagedProcess[]>();
  for (const service of services) {
    const log = logs.get(service) ?? [];
    const clock = clockFileOf(service);
    const managed = ports[service].map((port, index) => {
      const admin = adminPorts[service][index] ?? 0;
      return manageProcess({
        name: service,
        main: fileOfService(service, 'src/main.ts', options.checkout),
        environment: {
          ...environmentOf(service),
          ADMIN_PORT: String(admin),
          [SHAPES[service].serves === 'http' ? 'HTTP_PORT' : 'GRPC_PORT']: String(port),
          ...(clock !== undefined && { [CLOCK_FILE_VARIABLE]: clock }),
          ...options.environment?.[service],
        },
        preload: clock === undefined ? undefined : SHIFT_CLOCK,
        standby: options.standby?.includes(service)
          ? ['src/config.ts', 'src/server.ts'].map((file) => fileOfService(service, file, options.checkout))
          : undefined,
        readyUrl: `http://127.0.0.1:${admin}/readyz`,
        restart: options.restart ?? false,
        logFile: options.logDirectory === undefined ? undefined : join(options.logDirectory, `${service}-${index}.log`),
        onLine: (line) => appendToLog(log, line),
      });
    });
    processes.set(service, managed);
  }
  return processes;
}

/** One address, or several in the form over which grpc-js balances load. */
function addressOf(ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return ports.length > 1 ? `ipv4:${hosts}` : hosts;
}

function ignore(): void {}
