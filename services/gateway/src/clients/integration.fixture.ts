/** An integration service that a test scripts. Every gateway announces programs to it, so those calls are apart from what a test asks for. */
import { IntegrationServiceService } from '@laurel/proto/integration';
import { type ScriptedService, startScriptedService } from './scripted-service.fixture.ts';

export interface ScriptedIntegration extends ScriptedService<typeof IntegrationServiceService> {
  /** Every request of PutProgram so far; it is answered as the service would. */
  readonly programs: object[];
}

export async function startScriptedIntegration(): Promise<ScriptedIntegration> {
  const programs: object[] = [];
  const putProgram = (request: object) => {
    programs.push(request);
    return {};
  };
  return Object.assign(await startScriptedService(IntegrationServiceService, { putProgram }), { programs });
}
