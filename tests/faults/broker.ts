import type { Stack } from '@laurel/testing';
import { connect, type JetStreamManager } from 'nats';

/** Speaks to the NATS server behind a stack as its operator does, through JetStream's own interface. */
export async function withBroker<T>(
  { events }: Stack,
  work: (manager: JetStreamManager, stream: string) => Promise<T>,
): Promise<T> {
  const nats = await connect({ servers: events.url, reconnect: false });
  try {
    return await work(await nats.jetstreamManager({ checkAPI: false }), events.prefix.toUpperCase());
  } finally {
    await nats.close();
  }
}
