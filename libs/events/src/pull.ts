/**
 * Receives the messages of a durable consumer until the consumer is gone or the server is silent.
 * While there are no messages, the server sends a heartbeat every second. Any other status of the
 * server means that the consumer is gone, and the caller must create it again.
 */
import { type Consumer, ConsumerEvents, type JsMsg } from 'nats';

/** A request for messages expires after this time, and is made again. */
const EXPIRES_MS = 10_000;
/** Two missed heartbeats count as silence. */
const HEARTBEAT_MS = 1_000;

const GONE: ReadonlySet<string> = new Set(Object.values(ConsumerEvents));

export async function pullMessages(options: {
  consumer: Consumer;
  /** The most messages that are requested and have not arrived. */
  batch: number;
  signal: AbortSignal;
  /** The function must not throw. */
  receive: (message: JsMsg) => void;
}): Promise<void> {
  const { consumer, batch, signal, receive } = options;
  if (signal.aborted) return;
  const messages = await consumer.consume({
    max_messages: batch,
    expires: EXPIRES_MS,
    idle_heartbeat: HEARTBEAT_MS,
    // Without `bind` the library would wait for a lost consumer, but never create it.
    bind: true,
    callback: receive,
  });
  const leave = () => void messages.close();
  signal.addEventListener('abort', leave);
  try {
    for await (const { type } of await messages.status()) if (GONE.has(type)) return;
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}
