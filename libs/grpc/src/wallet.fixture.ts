/** A wallet that serves only the rpcs that a test gives it, over gRPC or in the test's process. */
import { isRefused, type Refused } from '@laurel/errors';
import { WalletServiceClient, WalletServiceService } from '@laurel/proto/wallet';
import { SERVICE_NAMES, type ServiceName } from '@laurel/topology';
import type { AcceptedCallers } from './caller.ts';
import type { ChannelIdentity } from './channel-identity.ts';
import { type ClientOptions, createClient } from './client.ts';
import { CallFailedError } from './error-mapping.ts';
import { type Handlers, implement } from './implement.ts';
import { createInProcessChannels, IN_PROCESS } from './in-process.ts';
import { startGrpcServer } from './server.ts';

export type WalletHandlers = Handlers<WalletServiceService>;
export type WalletRpc = keyof WalletServiceService & string;

export const ALL_RPCS = Object.keys(WalletServiceService) as WalletRpc[];

/** The ways of a call from one service to another. */
export type CallPath = 'gRPC' | 'in-process';

/**
 * Disposing the stack ends the servers that it starts; it keeps the lines that they log. Within a
 * process, a port is only a name that a server and its clients share.
 */
export function createWalletFixture(stack: AsyncDisposableStack, way: CallPath = 'gRPC') {
  const processes = new Map<number, ReturnType<typeof createInProcessChannels>>();
  const processAt = (port: number) => {
    const channels = processes.get(port) ?? createInProcessChannels();
    processes.set(port, channels);
    return channels;
  };
  const logged: { fields: object; message: string }[] = [];
  const logger = {
    error: (fields: object, message: string) => void logged.push({ fields, message }),
    warn: (fields: object, message: string) => void logged.push({ fields, message }),
  };
  return {
    logged,
    logger,
    async serve(
      handlers: Partial<WalletHandlers>,
      port = 0,
      drainLimitMs = 5_000,
      {
        identity,
        callers = SERVICE_NAMES,
        connectionAge,
      }: {
        identity?: ChannelIdentity;
        callers?: AcceptedCallers<WalletServiceService>;
        connectionAge?: { limitMs: number; graceMs: number };
      } = {},
    ) {
      const unused = Object.fromEntries(
        ALL_RPCS.map((rpc) => [rpc, () => Promise.reject(new Error(`${rpc} is not part of this test`))]),
      ) as unknown as WalletHandlers;
      const services = [implement(WalletServiceService, { ...unused, ...handlers }, { logger, callers })];
      if (way === 'in-process') {
        const name = port === 0 ? processes.size + 1 : port;
        const server = stack.use(processAt(name)('wallet').serve({ services, logger, drainLimitMs }));
        return { port: name, setServing: () => undefined, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
      }
      const options = { host: '127.0.0.1', port, services, identity, logger, drainLimitMs };
      return stack.use(await startGrpcServer({ ...options, ...(connectionAge && { connectionAge }) }));
    },
    /** A port at which no wallet is served. */
    async findFreePort(): Promise<number> {
      if (way === 'in-process') return processes.size + 1;
      await using server = await startGrpcServer({ host: '127.0.0.1', port: 0, services: [], logger });
      return server.port;
    },
    /** A server without any rpc of Laurel. */
    async serveNothing() {
      if (way === 'gRPC') {
        return stack.use(await startGrpcServer({ host: '127.0.0.1', port: 0, services: [], logger }));
      }
      const port = processes.size + 1;
      stack.use(processAt(port)('wallet').serve({ services: [], logger }));
      return { port };
    },
    /** Connects to a local port, or to a gRPC target. */
    connect(
      target: number | string,
      { caller = 'gateway', ...options }: Partial<ClientOptions<WalletRpc>> & { caller?: ServiceName } = {},
    ) {
      const local =
        way === 'in-process' && typeof target === 'number'
          ? { address: IN_PROCESS, inProcess: processAt(target)(caller) }
          : { address: typeof target === 'number' ? `127.0.0.1:${target}` : target };
      return stack.use(createClient(WalletServiceClient, { name: 'wallet', ...local, ...options }));
    },
  };
}

export async function failureOf(call: Promise<unknown>): Promise<CallFailedError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof CallFailedError) return error;
  throw new Error(`expected a CallFailedError, got ${String(error)}`);
}

export function respond<Response>(result: Response | Refused): Response {
  if (isRefused(result)) throw new Error(`refused: ${result.code}`);
  return result;
}
