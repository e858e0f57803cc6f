/** PutProgram: the gateway registers the developer of a program before it commits the program. */
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { insertPrograms } from '../repository/programs.ts';

export function putProgram({ database }: { database: Database }): Handlers<WebhookServiceService>['putProgram'] {
  return async (request) => {
    const programId = parseId(request.programId);
    const developerId = parseId(request.developerId);
    await insertPrograms(database, developerId, [programId]);
    return {};
  };
}
