/**
 * What every service, the gateway included, starts before its own parts; and the audit, which it
 * starts after its workers.
 */
import { type ChannelIdentity, IN_PROCESS, type InProcessChannel, identityOf } from '@laurel/grpc';
import {
  type CheckResult,
  createContinuousAudit,
  createDatabase,
  type Database,
  type DatabaseClock,
  startDatabaseClock,
  verifyRunningRole,
} from '@laurel/postgres';
import { addressesFor, type ServiceName } from '@laurel/topology';
import { startAdminServer } from './admin-server.ts';
import type { Logger } from './logger.ts';
import type { ProcessSettings } from './settings.ts';
import type { ServiceReadiness, SharedProcess } from './shared-process.ts';
import { type Clock, startWorker, type Worker } from './worker.ts';

export interface FoundationOptions {
  readonly name: ServiceName;
  readonly config: ProcessSettings;
  readonly database: { readonly url: string; readonly maxConnections: number };
  readonly logger: Logger;
  /** Tests pass a clock of their own; otherwise the service uses its database's time. */
  readonly testClock: Clock | undefined;
  /** Present if other services run in the same process. */
  readonly shared?: SharedProcess | undefined;
}

export interface Foundation {
  /** The identity is undefined where the channels between services have no certificates. */
  readonly identity: ChannelIdentity | undefined;
  /** The channel is undefined where the service has a process of its own. */
  readonly inProcess: InProcessChannel | undefined;
  readonly database: Database;
  readonly databaseClock: DatabaseClock;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What has started. It ends in reverse, so that each part outlives what is built on it. */
  readonly started: AsyncDisposableStack;
}

/**
 * Opens the identity, the database, and the database's time, in this order. An unreachable database
 * does not prevent the start; a role with too many privileges does.
 */
export async function startFoundation(options: FoundationOptions, started: AsyncDisposableStack): Promise<Foundation> {
  const { name, config, logger, testClock, shared } = options;
  const identity = hasOutsideChannels(name, config) ? started.use(await identityOf(config, logger)) : undefined;
  const database = started.use(createDatabase({ ...options.database, applicationName: `laurel-${name}` }));
  const isPrivilegedAllowed = config.ALLOW_PRIVILEGED_DATABASE_ROLE;
  started.use(await verifyRunningRole(database, { isPrivilegedAllowed, logger }));
  const databaseClock = started.use(await startDatabaseClock({ database, logger }));
  const inProcess = shared?.channelOf(name);
  return { identity, inProcess, database, databaseClock, clock: testClock ?? databaseClock.now, logger, started };
}

/** Whether a channel leaves this process, to a service that this one calls or from its callers. */
function hasOutsideChannels(name: ServiceName, config: Readonly<Record<string, unknown>>): boolean {
  const { GRPC_PORT: port = IN_PROCESS } = config;
  const called = Object.keys(addressesFor(name, () => ''));
  return port !== IN_PROCESS || called.some((variable) => config[variable] !== IN_PROCESS);
}

/** Opens the service's admin port, or adds the service to that of the process. Returns the port. */
export async function startAdmin(
  { name, config, shared }: FoundationOptions,
  readiness: ServiceReadiness,
  started: AsyncDisposableStack,
): Promise<number> {
  if (shared !== undefined) {
    started.use(shared.add(name, readiness));
    return shared.adminPort;
  }
  const { ADMIN_HOST: host, ADMIN_PORT: port } = config;
  return started.use(await startAdminServer({ host, port, ...readiness })).port;
}

export function startWorkers({ started, logger, clock }: Foundation, workers: readonly Worker[]): void {
  for (const worker of workers) started.use(startWorker({ ...worker, logger, clock }));
}

export interface Audit {
  /** The value of AUDIT_INTERVAL_SECONDS. */
  readonly intervalSeconds: number;
  /** Returns the result of each check; ends early when the signal is aborted. */
  readonly run: (signal: AbortSignal) => Promise<readonly CheckResult[]>;
  /** Only for an audit in slices: see createContinuousAudit. */
  readonly passCompletedAt?: () => Promise<number | null>;
}

/** Audits the service's own rows all the time, one replica at a time. */
export function startAudit(foundation: Foundation, { intervalSeconds, ...audit }: Audit): void {
  const { started, database, logger } = foundation;
  const auditor = createContinuousAudit({ database, intervalMs: intervalSeconds * 1_000, ...audit, logger });
  startWorkers(foundation, [{ name: 'audit', intervalMs: auditor.pollMs, runOnce: auditor.runOnce }]);
  // The audit's worker waits for a run in progress. The auditor is disposed first, and ends that
  // run.
  started.use(auditor);
}
