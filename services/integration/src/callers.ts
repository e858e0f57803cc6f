/** Which service may call which rpc of the integration service: the gateway may call each. */
import type { AcceptedCallers } from '@laurel/grpc';
import type { IntegrationServiceService } from '@laurel/proto/integration';

const GATEWAY = ['gateway'] as const;

export const CALLERS: AcceptedCallers<IntegrationServiceService> = {
  putProgram: GATEWAY,
  createIntegration: GATEWAY,
  listIntegrations: GATEWAY,
  updateIntegration: GATEWAY,
  rotateSecret: GATEWAY,
  retirePreviousSecret: GATEWAY,
  receivePushes: GATEWAY,
  dryRun: GATEWAY,
  listLog: GATEWAY,
};
