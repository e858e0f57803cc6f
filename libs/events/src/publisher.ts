/**
 * Publishes messages to JetStream, many in flight at once, each with its own result. A message
 * without a response in time counts as not stored; if it was stored after all, its events are
 * consumed twice.
 */
import { ErrorCode, type NatsConnection, NatsError } from 'nats';

export interface StreamMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
}

/**
 * The result of one message. `no-responders`: no stream has this subject, or JetStream is not up
 * yet.
 */
export type PublishResult =
  | { readonly kind: 'stored' | 'no-responders' }
  | { readonly kind: 'failed'; readonly error: string };

export interface Publisher {
  /** Resolves with one result per message, in order. Never rejects. */
  publish(messages: readonly StreamMessage[]): Promise<readonly PublishResult[]>;
}

const ACK_TIMEOUT_MS = 1_000;

export function createPublisher(nats: NatsConnection): Publisher {
  const stream = nats.jetstream();
  return {
    publish: async (messages) => {
      const answers = await Promise.allSettled(
        messages.map(({ subject, payload }) => stream.publish(subject, payload, { timeout: ACK_TIMEOUT_MS })),
      );
      return answers.map((answer) => (answer.status === 'fulfilled' ? { kind: 'stored' } : failureOf(answer.reason)));
    },
  };
}

function failureOf(error: unknown): PublishResult {
  if (!(error instanceof NatsError)) return { kind: 'failed', error: String(error) };
  // The stream refused the message, for example on a full disk; the code may be that of a missing
  // stream.
  if (error.api_error !== undefined) return { kind: 'failed', error: error.api_error.description };
  switch (error.code) {
    // The server's response if the subject has no subscriber, and JetStream's while it has no
    // leader.
    case ErrorCode.NoResponders:
      return { kind: 'no-responders' };
    case ErrorCode.Timeout:
      return { kind: 'failed', error: `not acknowledged within ${ACK_TIMEOUT_MS} ms` };
    default:
      return { kind: 'failed', error: error.message };
  }
}
