/**
 * A service that a test scripts: a gateway's tests check which calls the service gets, and how its
 * results are shown.
 */
import { refused } from '@laurel/errors';
import { type Handlers, implement, startGrpcServer } from '@laurel/grpc';
import { createLogger } from '@laurel/service';

type Definition = Parameters<typeof implement>[0];

export interface ScriptedService<Service extends Definition> extends AsyncDisposable {
  readonly address: string;
  /** Every call so far, as the rpc and its request, except calls of the rpcs in `apart`. */
  readonly asked: [string, object][];
  /** The handlers of the rpcs. An rpc without one returns not_found. */
  script: { -readonly [Rpc in keyof Service]?: Handlers<Service>[Rpc] };
}

/**
 * Starts the service. `apart` has handlers of its own, and calls of its rpcs are not listed in
 * `asked`.
 */
export async function startScriptedService<Service extends Definition>(
  definition: Service,
  apart: Readonly<Record<string, (request: never) => object>> = {},
): Promise<ScriptedService<Service>> {
  const logger = createLogger({ service: 'scripted', level: 'silent' });
  const asked: [string, object][] = [];
  const rpcs = Object.keys(definition).map((rpc) => [
    rpc,
    async (request: object, context: never) => {
      const answerApart = apart[rpc];
      if (answerApart !== undefined) return answerApart(request as never);
      asked.push([rpc, request]);
      const answer = scripted.script[rpc] as ((request: object, context: never) => object) | undefined;
      return answer === undefined ? refused('not_found') : answer(request, context);
    },
  ]);
  const callers = Object.fromEntries(Object.keys(definition).map((rpc) => [rpc, ['gateway']]));
  const server = await startGrpcServer({
    host: '127.0.0.1',
    port: 0,
    services: [implement(definition, Object.fromEntries(rpcs), { logger, callers: callers as never })],
    logger,
  });
  const scripted: ScriptedService<Service> = {
    address: `127.0.0.1:${server.port}`,
    asked,
    script: {},
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return scripted;
}
