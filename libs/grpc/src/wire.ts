/** What both ends of a connection agree on. */

/** Request metadata: the id of the public request that a call belongs to. */
export const REQUEST_ID_KEY = 'x-request-id';

/** Request metadata: the span of the caller, if the call is in a trace (W3C Trace Context). */
export const TRACEPARENT_KEY = 'traceparent';

/** A batch of 200 items stays far below this. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** What a request or response may have of a message of the exchange; the rest is room for what surrounds it. */
export const MAX_EXCHANGED_BYTES = MAX_MESSAGE_BYTES - 64 * 1024;

/** From a call on loopback to one that meets its deadline. */
export const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Both ends ask an idle connection for a sign of life, so that a silent partner is noticed before a player is. */
export const KEEPALIVE = {
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
} as const;

export const CHANNEL_LIMITS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  // Bookkeeping for a debugging service that we do not run; it costs on every call.
  'grpc.enable_channelz': 0,
} as const;
