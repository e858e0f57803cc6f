/** The integration service's wiring, in the order of its start. Disposal runs in reverse: calls drain first. */
import { urlCheckOf } from '@laurel/egress';
import { createEncryption } from '@laurel/encryption';
import { identityOf, implement, startGrpcServer } from '@laurel/grpc';
import { createDatabase, startDatabaseClock, verifyRunningRole } from '@laurel/postgres';
import { IntegrationServiceService } from '@laurel/proto/integration';
import { type Clock, type Logger, startAdminServer } from '@laurel/service';
import type { IntegrationConfig } from './config.ts';
import { createIntegration } from './handlers/create-integration.ts';
import { dryRun } from './handlers/dry-run.ts';
import { listIntegrations } from './handlers/list-integrations.ts';
import { listLog } from './handlers/list-log.ts';
import { putProgram } from './handlers/put-program.ts';
import { receivePushes } from './handlers/receive-pushes.ts';
import { retirePreviousSecret } from './handlers/retire-previous-secret.ts';
import { rotateSecret } from './handlers/rotate-secret.ts';
import { updateIntegration } from './handlers/update-integration.ts';

export type IntegrationServer = AsyncDisposable & {
  readonly port: number;
  readonly adminPort: number;
};

/** Starts the integration service on a migrated database. Its clock is the database's; tests pass their own. */
export async function startIntegration(
  config: IntegrationConfig,
  logger: Logger,
  testClock?: Clock,
): Promise<IntegrationServer> {
  await using starting = new AsyncDisposableStack();
  const identity = starting.use(await identityOf(config, logger));
  const database = starting.use(
    createDatabase({
      url: config.INTEGRATION_DATABASE_URL,
      maxConnections: config.INTEGRATION_DATABASE_POOL,
      applicationName: 'laurel-integration',
    }),
  );
  const isPrivilegedAllowed = config.ALLOW_PRIVILEGED_DATABASE_ROLE;
  starting.use(await verifyRunningRole(database, { isPrivilegedAllowed, logger }));
  const databaseClock = starting.use(await startDatabaseClock({ database, logger }));
  const clock = testClock ?? databaseClock.now;
  const encryption = createEncryption(config.INTEGRATION_SECRET_KEY);
  const checkUrl = urlCheckOf(config);

  const service = implement(
    IntegrationServiceService,
    {
      putProgram: putProgram({ database }),
      createIntegration: createIntegration({ database, encryption, checkUrl, clock }),
      listIntegrations: listIntegrations({ database }),
      updateIntegration: updateIntegration({ database, encryption, checkUrl, clock }),
      rotateSecret: rotateSecret({ database, encryption }),
      retirePreviousSecret: retirePreviousSecret({ database }),
      receivePushes: receivePushes(),
      dryRun: dryRun(),
      listLog: listLog(),
    },
    { logger, callers: ['gateway'] },
  );
  const grpc = starting.use(
    await startGrpcServer({ host: config.GRPC_HOST, port: config.GRPC_PORT, services: [service], identity, logger }),
  );
  const admin = starting.use(
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      isReady: async () => databaseClock.isKnown() && (await database.isReachable()),
    }),
  );

  const running = starting.move();
  return {
    port: grpc.port,
    adminPort: admin.port,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
