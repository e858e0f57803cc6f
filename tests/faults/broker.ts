import { parseNatsUrl } from '@laurel/events';
import type { Stack } from '@laurel/testing';
import { connect, type JetStreamManager } from 'nats';

/** Administers the NATS server behind a stack like its operator, through JetStream's own API. */
export async function withBroker<T>(
  { events }: Stack,
  work: (manager: JetStreamManager, stream: string) => Promise<T>,
): Promise<T> {
  const { servers, user, password } = parseNatsUrl(events.url);
  const nats = await connect({
    servers,
    ...(user !== undefined && { user, pass: password ?? '' }),
    tls: events.caFile === undefined ? null : { caFile: events.caFile },
    reconnect: false,
  });
  try {
    return await work(await nats.jetstreamManager({ checkAPI: false }), events.prefix.toUpperCase());
  } finally {
    await nats.close();
  }
}
