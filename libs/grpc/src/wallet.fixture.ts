/** A wallet over gRPC that serves only the rpcs that a test gives it. */
import { isRefused, type Refused } from '@laurel/errors';
import { WalletServiceClient, WalletServiceService } from '@laurel/proto/wallet';
import { SERVICE_NAMES } from '@laurel/topology';
import type { AcceptedCallers } from './caller.ts';
import type { ChannelIdentity } from './channel-identity.ts';
import { type ClientOptions, createClient } from './client.ts';
import { CallFailedError } from './error-mapping.ts';
import { type Handlers, implement } from './implement.ts';
import { startGrpcServer } from './server.ts';

export type WalletHandlers = Handlers<WalletServiceService>;
export type WalletRpc = keyof WalletServiceService & string;

export const ALL_RPCS = Object.keys(WalletServiceService) as WalletRpc[];

/** Disposing the stack ends the processes that it starts; it keeps the lines that they log. */
export function createWalletFixture(stack: AsyncDisposableStack) {
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
      const options = { host: '127.0.0.1', port, services, identity, logger, drainLimitMs };
      return stack.use(await startGrpcServer({ ...options, ...(connectionAge && { connectionAge }) }));
    },
    /** Connects to a local port, or to a gRPC target. */
    connect(target: number | string, options: Partial<ClientOptions<WalletRpc>> = {}) {
      const address = typeof target === 'number' ? `127.0.0.1:${target}` : target;
      return stack.use(createClient(WalletServiceClient, { name: 'wallet', address, ...options }));
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
