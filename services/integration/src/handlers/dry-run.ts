/** DryRun: what a descriptor would read from a sample. */
import { refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { IntegrationServiceService } from '@laurel/proto/integration';

export function dryRun(): Handlers<IntegrationServiceService>['dryRun'] {
  return async () => refused('invalid_request');
}
