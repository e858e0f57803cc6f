/**
 * PutProgram: the gateway registers the developer of a program before it commits the program, and
 * again after each change of the program. An older version changes nothing.
 */
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { upsertProgram } from '../repository/programs.ts';

export function putProgram({ database }: { database: Database }): Handlers<WebhookServiceService>['putProgram'] {
  return async (request) => {
    await upsertProgram(database, {
      id: parseId(request.programId),
      developerId: request.developerId === '' ? null : parseId(request.developerId),
      version: request.version,
    });
    return {};
  };
}
