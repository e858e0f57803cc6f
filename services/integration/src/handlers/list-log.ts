/** ListLog: the last pushes and polls of an integration. */
import { refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { IntegrationServiceService } from '@laurel/proto/integration';

export function listLog(): Handlers<IntegrationServiceService>['listLog'] {
  return async () => refused('not_found');
}
