import { connectEvents } from '@laurel/events';
import { createLogger } from '@laurel/service';
import { expect, test, vi } from 'vitest';
import { NATS_URL_VARIABLE, natsUrl, startNats } from './nats.ts';

test('the test run has a NATS server, and a test may start another', async () => {
  await using own = await startNats();
  expect(own.url).not.toBe(natsUrl());
  for (const url of [own.url, natsUrl()]) {
    await using stream = connectEvents({
      url,
      prefix: 'testing',
      name: 'test',
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    const connected = Promise.withResolvers<void>();
    using _ = stream.connection.onUp(() => connected.resolve());
    await connected.promise;
    await stream.ensure();
    expect(await stream.look()).toEqual({ oldestAt: null, isConsumed: false });
  }
});

test('several NATS servers are a cluster that keeps a stream', async () => {
  await using own = await startNats({ servers: 2 });
  expect(own.servers).toHaveLength(2);
  expect(own.url.split(',')).toHaveLength(2);
  await using stream = connectEvents({
    url: own.url,
    prefix: 'testing',
    name: 'test',
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  // The servers have no leader at first.
  await vi.waitFor(() => stream.ensure(), 20_000);
  expect(await stream.look()).toEqual({ oldestAt: null, isConsumed: false });
});

test('a missing NATS server of the test run is reported as an error', () => {
  const url = process.env[NATS_URL_VARIABLE];
  try {
    delete process.env[NATS_URL_VARIABLE];
    expect(natsUrl).toThrow(NATS_URL_VARIABLE);
  } finally {
    process.env[NATS_URL_VARIABLE] = url;
  }
});
