/** An integration service that a test scripts: a gateway's tests check which calls it gets, and how its answers are shown. */
import { refused } from '@laurel/errors';
import { type Handlers, implement, startGrpcServer } from '@laurel/grpc';
import { IntegrationServiceService } from '@laurel/proto/integration';
import { createLogger } from '@laurel/service';

type Service = Handlers<typeof IntegrationServiceService>;

export interface ScriptedIntegration extends AsyncDisposable {
  readonly address: string;
  /** Every call so far but those of PutProgram: the rpc and its request. */
  readonly asked: [string, object][];
  /** Every request of PutProgram so far. */
  readonly programs: object[];
  /** What it answers; not_found where nothing is set, and to PutProgram what the service would. */
  script: { -readonly [Rpc in keyof Service]?: Service[Rpc] };
}

export async function startScriptedIntegration(): Promise<ScriptedIntegration> {
  const logger = createLogger({ service: 'integration', level: 'silent' });
  const asked: [string, object][] = [];
  const programs: object[] = [];
  const rpcs = Object.keys(IntegrationServiceService).map((rpc) => [
    rpc,
    async (request: object, context: never) => {
      if (rpc === 'putProgram') programs.push(request);
      else asked.push([rpc, request]);
      const answer = scripted.script[rpc as keyof Service] as ((request: object, context: never) => object) | undefined;
      if (answer !== undefined) return answer(request, context);
      return rpc === 'putProgram' ? {} : refused('not_found');
    },
  ]);
  const server = await startGrpcServer({
    host: '127.0.0.1',
    port: 0,
    services: [implement(IntegrationServiceService, Object.fromEntries(rpcs), { logger, callers: ['gateway'] })],
    logger,
  });
  const scripted: ScriptedIntegration = {
    address: `127.0.0.1:${server.port}`,
    asked,
    programs,
    script: {},
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return scripted;
}
