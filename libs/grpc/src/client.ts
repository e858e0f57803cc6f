/**
 * A typed client of one service: promises, refusals as values, one breaker, a deadline on every
 * call.
 */
import {
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { isRefused, type Refused } from '@laurel/errors';
import { histogram, tracer } from '@laurel/telemetry';
import { type BreakerOptions, createBreaker } from './breaker.ts';
import { endAnswered, endFailed, endRefused, rpcAttributes, spanName } from './call-span.ts';
import type { ChannelIdentity } from './channel-identity.ts';
import type { Definition, RequestOf, ResponseOf } from './definition.ts';
import { CallFailedError, callFailedError, isWorthRetrying, refusalOf } from './error-mapping.ts';
import { IN_PROCESS, type InProcessChannel } from './in-process.ts';
import { createCallMultiplexer } from './multiplexer-client.ts';
import type { OutgoingCall } from './pending-call.ts';
import {
  CHANNEL_LIMITS,
  KEEPALIVE,
  MAX_DEADLINE_MS,
  PING_EVERY_MS,
  REQUEST_ID_KEY,
  SECONDS_BUCKETS,
  TRACEPARENT_KEY,
} from './wire.ts';

const DEFAULT_DEADLINE_MS = 5_000;
// A client tries to connect again at least each second, give or take a fifth.
const MAX_RECONNECT_PAUSE_MS = 1_000;
const RECONNECT_LIMIT_MS = 1_500;
// The server asks a connection to end after a minute. By then every stream is renewed once, and its
// calls move to the next connection.
const RENEW_STREAM_AFTER_MS = 20_000;

const CLIENT_CHANNEL: ChannelOptions = {
  ...CHANNEL_LIMITS,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  'grpc.service_config_disable_resolution': 1,
  // A restarted service is back within a second; the client should reconnect as fast.
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_PAUSE_MS,
  'grpc.dns_min_time_between_resolutions_ms': 5_000,
  // Calls between services ignore a proxy in the environment.
  'grpc.enable_http_proxy': 0,
  'grpc.use_local_subchannel_pool': 1,
  // A response with a full batch arrives without waiting for window updates.
  'grpc-node.flow_control_window': 1024 * 1024,
};

/**
 * Whether a call is sent once more when the connection broke. `true` waits for another connection
 * first, as long as a service needs to restart. `immediately` does not wait: for a batch, which
 * would hold up those behind it, and whose caller settles the call by its id.
 */
export type RetryLostReply = boolean | 'immediately';

/** The channels through which a service reaches others. */
export type Channels = {
  /**
   * If set, the client presents its certificate, and accepts only a server with this service's
   * certificate.
   */
  readonly identity?: ChannelIdentity | undefined;
  /** Present if other services run in the same process. */
  readonly inProcess?: InProcessChannel | undefined;
};

export type ClientOptions<Rpc extends string = string> = Channels & {
  /** The service, as logs and metrics name it, and its certificate. */
  name: string;
  /**
   * `host:port`, or a gRPC target such as `dns:///host:port`, whose addresses share the load;
   * IN_PROCESS for a service of the same process.
   */
  address: string;
  /** The deadline of a call that names none: 5 s by default, MAX_DEADLINE_MS at most. */
  deadlineMs?: number;
  breaker?: BreakerOptions;
  /** For calls that do not say. Only for services whose calls are all idempotent. */
  retryLostReply?: RetryLostReply;
  /** Frequent rpcs, whose calls share one open stream (`multiplexer-client.ts`). */
  hot?: readonly Rpc[];
  /** How long new calls use one stream, and thus one replica; 20 s by default. */
  renewStreamAfterMs?: number;
};

export type CallOptions = {
  /** Sent with unary calls only, so a hot rpc's call with a request id is sent as a unary call. */
  requestId?: string | undefined;
  /** Counted from now, and includes a retry. MAX_DEADLINE_MS at most. */
  deadlineMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Only for calls that are idempotent. */
  retryLostReply?: RetryLostReply | undefined;
};

/**
 * Each rpc resolves with a response or a refusal, or rejects with CallFailedError (UnavailableError
 * when the breaker is open).
 */
export type TypedClient<Service> = {
  readonly [Rpc in keyof Service]: (
    request: RequestOf<Service[Rpc]>,
    options?: CallOptions,
  ) => Promise<ResponseOf<Service[Rpc]> | Refused>;
};

/** What ts-proto generates as `XServiceClient`. */
export type ClientConstructor<Service> = {
  new (address: string, channelCredentials: ChannelCredentials, options: ChannelOptions): Client;
  readonly service: Service;
};

/**
 * Joins two services on one port into one client, with one channel and one breaker. They have no
 * rpc name in common.
 */
export function joinServices<First extends Definition, Second extends Definition>(
  first: ClientConstructor<First>,
  second: ClientConstructor<Second>,
): ClientConstructor<First & Second> {
  const Channel: new (address: string, channelCredentials: ChannelCredentials, options: ChannelOptions) => Client =
    first;
  return Object.assign(class extends Channel {}, { service: { ...first.service, ...second.service } });
}

type Call = (request: unknown, options?: CallOptions) => Promise<unknown>;

/**
 * Opens a channel to a service, over all of its replicas. No client stays on a replica whose
 * machine is gone.
 */
export function openChannel<Channel>(
  Channel: new (address: string, channelCredentials: ChannelCredentials, options: ChannelOptions) => Channel,
  { name, address, identity }: Pick<ClientOptions, 'name' | 'address' | 'identity'>,
  { isPinged = true }: { readonly isPinged?: boolean } = {},
): Channel {
  const options = { ...CLIENT_CHANNEL, ...(isPinged && KEEPALIVE) };
  return new Channel(
    address,
    identity?.channelCredentials(name) ?? credentials.createInsecure(),
    // gRPC sends this server name, and nothing checks it. Without it gRPC would send the address,
    // which TLS forbids for an IP.
    identity === undefined ? options : { ...options, 'grpc.ssl_target_name_override': name },
  );
}

/** Connects on the first call; disposing closes the connection. */
export function createClient<Service extends Definition>(
  XServiceClient: ClientConstructor<Service>,
  options: ClientOptions<keyof Service & string>,
): TypedClient<Service> & AsyncDisposable {
  const transport = options.address === IN_PROCESS ? inProcess(options) : overGrpc(XServiceClient, options);
  const breaker = createBreaker(options.name, options.breaker ?? {});
  const seconds = histogram('laurel_grpc_client_seconds', 'How long calls to other services took.', SECONDS_BUCKETS, [
    'rpc',
    'outcome',
  ]);

  const calls: Record<string, Call> = {};
  for (const [rpc, method] of Object.entries<Definition[string]>(XServiceClient.service)) {
    const attributes = { ...rpcAttributes(method.path), 'server.address': options.address };
    calls[rpc] = async (request, callOptions = {}) => {
      const startedAt = performance.now();
      const deadlineMs = callOptions.deadlineMs ?? options.deadlineMs ?? DEFAULT_DEADLINE_MS;
      if (deadlineMs > MAX_DEADLINE_MS) throw new RangeError(`${rpc}: no deadline is later than ${MAX_DEADLINE_MS} ms`);
      const deadlineAt = Date.now() + deadlineMs;
      const { requestId, signal } = callOptions;
      const span = tracer?.active()?.child('client', spanName(method.path), attributes);
      const traceparent = span?.traceparent ?? '';
      const call = { method, request, deadlineAt, signal, traceparent };
      const send = () => breaker.fire(() => transport.send(rpc, call, requestId));
      const retry = callOptions.retryLostReply ?? options.retryLostReply ?? false;
      const maySendAgain = async () => retry === 'immediately' || (retry && (await transport.waitForConnection(call)));
      let outcome = 'ok';
      try {
        const answer = await retryOnce(send, maySendAgain);
        if (span !== undefined) isRefused(answer) ? endRefused(span, answer) : endAnswered(span);
        return answer;
      } catch (error) {
        const code = error instanceof CallFailedError ? error.code : undefined;
        outcome = code === undefined ? 'error' : String(code);
        endFailed(span, code, error);
        throw error;
      } finally {
        seconds.observe({ rpc: method.path, outcome }, (performance.now() - startedAt) / 1_000);
      }
    };
  }

  return {
    ...(calls as TypedClient<Service>),
    async [Symbol.asyncDispose]() {
      breaker.shutdown();
      transport.close();
    },
  };
}

type Transport = {
  send(rpc: string, call: OutgoingCall, requestId: string | undefined): Promise<unknown>;
  /**
   * Waits until the call can be sent: a service that restarts is back before its clients try to
   * connect again. Resolves with false if there is no connection after RECONNECT_LIMIT_MS, at the
   * call's deadline, or when its caller gives up.
   */
  waitForConnection(call: OutgoingCall): Promise<boolean>;
  close(): void;
};

function overGrpc<Service extends Definition>(
  XServiceClient: ClientConstructor<Service>,
  options: ClientOptions,
): Transport {
  const channel = openChannel(XServiceClient, options);
  const multiplexer = createCallMultiplexer(channel, {
    renewAfterMs: options.renewStreamAfterMs ?? RENEW_STREAM_AFTER_MS,
  });
  const hot = new Set(options.hot);
  let unpinged: Client | undefined;
  /** The channel of calls that may last longer than the time between two pings. */
  const channelOfLongCalls = () => {
    unpinged ??= openChannel(XServiceClient, options, { isPinged: false });
    return unpinged;
  };
  const isLong = ({ deadlineAt }: OutgoingCall) => deadlineAt - Date.now() > PING_EVERY_MS;
  return {
    send(rpc, call, requestId) {
      if (isLong(call)) return sendUnary(channelOfLongCalls(), call, requestId);
      return requestId === undefined && hot.has(rpc) ? multiplexer.call(call) : sendUnary(channel, call, requestId);
    },
    waitForConnection(call) {
      const deadline = Math.min(call.deadlineAt, Date.now() + RECONNECT_LIMIT_MS);
      const needed = isLong(call) ? channelOfLongCalls() : channel;
      return new Promise((resolve) => {
        const giveUp = () => resolve(false);
        if (call.signal?.aborted) return giveUp();
        call.signal?.addEventListener('abort', giveUp, { once: true });
        needed.waitForReady(deadline, (error) => {
          call.signal?.removeEventListener('abort', giveUp);
          resolve(error === undefined);
        });
      });
    },
    close() {
      multiplexer.close();
      channel.close();
      unpinged?.close();
    },
  };
}

function inProcess({ name, inProcess: channel }: ClientOptions): Transport {
  if (channel === undefined) throw new Error(`${name} has no address: it does not stand in this process`);
  return {
    send: (_rpc, call, requestId) => channel.call(name, call, requestId),
    waitForConnection: async () => true,
    close() {},
  };
}

/** Sends the call once more if the connection broke and the call may be sent again. */
async function retryOnce<Result>(send: () => Promise<Result>, maySendAgain: () => Promise<boolean>): Promise<Result> {
  try {
    return await send();
  } catch (error) {
    if (!isWorthRetrying(error) || !(await maySendAgain())) throw error;
    return await send();
  }
}

function sendUnary(
  channel: Client,
  { method, request, deadlineAt, signal, traceparent }: OutgoingCall,
  requestId: string | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const metadata = new Metadata();
    if (requestId !== undefined) metadata.set(REQUEST_ID_KEY, requestId);
    if (traceparent !== '') metadata.set(TRACEPARENT_KEY, traceparent);
    const cancel = () => call.cancel();
    const onEnd = (error: ServiceError | null, response?: unknown) => {
      signal?.removeEventListener('abort', cancel);
      if (error === null) return resolve(response);
      const refusal = refusalOf(error);
      if (refusal !== null) return resolve(refusal);
      return reject(callFailedError(method.path, error));
    };
    const call = channel.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      { deadline: deadlineAt },
      onEnd,
    );
    if (signal?.aborted) cancel();
    else signal?.addEventListener('abort', cancel, { once: true });
  });
}
