/** The handlers of the integration service's rpcs, and what they need. */
import type { UrlCheck } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { IntegrationServiceService } from '@laurel/proto/integration';
import type { Clock, Logger } from '@laurel/service';
import { CALLERS } from './callers.ts';
import type { RecordSettler } from './commits/settle-records.ts';
import type { BodyScheduler } from './domain/body-scheduler.ts';
import { createIntegration } from './handlers/create-integration.ts';
import { dryRun } from './handlers/dry-run.ts';
import { listIntegrations } from './handlers/list-integrations.ts';
import { listLog } from './handlers/list-log.ts';
import { putProgram } from './handlers/put-program.ts';
import { receivePushes } from './handlers/receive-pushes.ts';
import { retirePreviousSecret } from './handlers/retire-previous-secret.ts';
import { rotateSecret } from './handlers/rotate-secret.ts';
import { updateIntegration } from './handlers/update-integration.ts';
import type { LogWriter } from './workers/write-log.ts';

export function integrationRpcs(deps: {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly checkUrl: UrlCheck;
  readonly settler: RecordSettler;
  readonly log: LogWriter;
  readonly bodyScheduler: BodyScheduler;
  readonly clock: Clock;
  readonly logger: Logger;
}): ServiceImplementation {
  return implement(
    IntegrationServiceService,
    {
      putProgram: putProgram(deps),
      createIntegration: createIntegration(deps),
      listIntegrations: listIntegrations(deps),
      updateIntegration: updateIntegration(deps),
      rotateSecret: rotateSecret(deps),
      retirePreviousSecret: retirePreviousSecret(deps),
      receivePushes: receivePushes(deps),
      dryRun: dryRun(deps),
      listLog: listLog(deps),
    },
    { logger: deps.logger, callers: CALLERS },
  );
}
