/**
 * An integration service that a test scripts. Every gateway announces programs to this service, so
 * these calls are listed apart from those that a test causes.
 */
import { IntegrationServiceService, type PutProgramRequest } from '@laurel/proto/integration';
import { type ScriptedService, startScriptedService } from './scripted-service.fixture.ts';

export interface ScriptedIntegration extends ScriptedService<typeof IntegrationServiceService> {
  /**
   * Every request of PutProgram so far; each gets the response that the real service would give.
   */
  readonly programs: PutProgramRequest[];
  /**
   * The announcements of a program, oldest version first, each version once. Every gateway repeats
   * the changes of the last minutes on its own schedule, even between two changes.
   */
  announced(programId: string): PutProgramRequest[];
}

export async function startScriptedIntegration(): Promise<ScriptedIntegration> {
  const programs: PutProgramRequest[] = [];
  const putProgram = (request: PutProgramRequest) => {
    programs.push(request);
    return {};
  };
  return Object.assign(await startScriptedService(IntegrationServiceService, { putProgram }), {
    programs,
    announced(programId: string) {
      const versions = new Map(
        programs.filter((request) => request.programId === programId).map((request) => [request.version, request]),
      );
      return [...versions.values()].toSorted((one, other) => (one.version < other.version ? -1 : 1));
    },
  });
}
