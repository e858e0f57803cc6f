/** ReceivePushes: bodies that partners' servers posted; one result an item, in order. */
import { type Handlers, parseItems } from '@laurel/grpc';
import type { IntegrationServiceService } from '@laurel/proto/integration';

export function receivePushes(): Handlers<IntegrationServiceService>['receivePushes'] {
  return async (request) => ({
    results: parseItems(request.pushes).map(() => ({
      result: { $case: 'failure', value: { message: 'pushes are not received' } },
    })),
  });
}
