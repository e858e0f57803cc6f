/**
 * Takes what a durable consumer has to give, until it is gone or silent. While it has nothing the server says every second that it is
 * still there; whatever else the server says about the consumer means that it is not, and that somebody has to make it again.
 */
import { type Consumer, ConsumerEvents, type JsMsg } from 'nats';

/** A request for messages that ends unanswered is made again. */
const EXPIRES_MS = 10_000;
/** Two that do not come are a silence. */
const HEARTBEAT_MS = 1_000;

const GONE: ReadonlySet<string> = new Set(Object.values(ConsumerEvents));

export async function pullMessages(options: {
  consumer: Consumer;
  /** The most messages that are asked for and have not come yet. */
  batch: number;
  signal: AbortSignal;
  /** May not throw. */
  receive: (message: JsMsg) => void;
}): Promise<void> {
  const { consumer, batch, signal, receive } = options;
  if (signal.aborted) return;
  const messages = await consumer.consume({
    max_messages: batch,
    expires: EXPIRES_MS,
    idle_heartbeat: HEARTBEAT_MS,
    // The library would wait for a lost consumer, but never make it.
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
