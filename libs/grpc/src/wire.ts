/** The constants that both ends of a connection share. */

/** Request metadata: the id of the public request that a call belongs to. */
export const REQUEST_ID_KEY = 'x-request-id';

/** Request metadata: the span of the caller, if the call is in a trace (W3C Trace Context). */
export const TRACEPARENT_KEY = 'traceparent';

/**
 * A call with MAX_ITEMS of the largest items is smaller
 * (libs/attempts/src/client/hot-calls.test.ts).
 */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * The most bytes of a multiplexed call's request or response; the rest of a message is its
 * envelope.
 */
export const MAX_MULTIPLEXED_BYTES = MAX_MESSAGE_BYTES - 64 * 1024;

/** The most items of one call. */
export const MAX_ITEMS = 200;

/** The largest id of a call on its stream: a uint32. */
export const MAX_CALL_ID = 2 ** 32 - 1;

/**
 * The latest deadline of a call, counted from its start. After a server has asked a connection to
 * end, it lets the connection's calls go on for longer than that.
 */
export const MAX_DEADLINE_MS = 120_000;

/** How long a server that stops waits for the calls in flight. */
export const DEFAULT_DRAIN_LIMIT_MS = 5_000;

/** Buckets from a call on loopback to one that reaches its deadline. */
export const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How often a client pings a connection. */
export const PING_EVERY_MS = 20_000;

/**
 * A client pings an idle connection too, so that a dead server is detected before it delays a
 * player. A server does not ping: the connection of a dead client ends by its age.
 * Once a server has asked a connection to end, the next ping ends it with the calls under way
 * (https://github.com/grpc/grpc-node/issues/3068). So a call that may last longer than the time
 * between two pings needs a connection without pings.
 */
export const KEEPALIVE = {
  'grpc.keepalive_time_ms': PING_EVERY_MS,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
} as const;

export const CHANNEL_LIMITS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  // Channelz is bookkeeping for a debugging service that Laurel does not run; it costs on every
  // call.
  'grpc.enable_channelz': 0,
} as const;
