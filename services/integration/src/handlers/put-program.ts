/**
 * PutProgram: the gateway registers a program's developer, the environments in which its outcomes
 * may be settled, and each change of either.
 */
import { type Handlers, parseEnvironment, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { IntegrationServiceService } from '@laurel/proto/integration';
import { upsertProgram } from '../repository/programs.ts';

export function putProgram({ database }: { database: Database }): Handlers<IntegrationServiceService>['putProgram'] {
  return async (request) => {
    await upsertProgram(database, {
      id: parseId(request.programId),
      developerId: request.developerId === '' ? null : parseId(request.developerId),
      openEnvironments: [...new Set(request.openEnvironments.map(parseEnvironment))],
      version: request.version,
    });
    return {};
  };
}
