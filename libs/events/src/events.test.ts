import { randomUUID } from 'node:crypto';
import { ConnectionFailedError, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type Event, Events, EventsAcknowledged, Owner } from '@laurel/proto/events';
import { metrics } from '@laurel/telemetry';
import { newOwnedId } from '@laurel/values/ids';
import { AckPolicy } from 'nats';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ConsumerOptions, startConsumer } from './consumer.ts';
import {
  createOutboxDatabase,
  createTestLogger,
  createTestPublisher,
  eventually,
  natsUrl,
  newEvent,
  newPrefix,
  startOwnNats,
  type TestPublisher,
  urlForUser,
} from './events.fixture.ts';
import { connectEvents, type EventStream, jetStreamManagerOf, subjectOf } from './stream.ts';

let database: Database;
beforeAll(async () => {
  database = await createOutboxDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() => database.query({ text: 'truncate outbox' }));

/** A consumer that counts in memory how often it gets each event. */
function createConsumer(stream: EventStream, options: Partial<ConsumerOptions> = {}) {
  const seen = new Map<string, number>();
  const batches: (readonly Event[])[] = [];
  const consumer = startConsumer({
    stream,
    durable: 'webhook',
    logger: createTestLogger().logger,
    retryDelayMs: 20,
    consume: async (events) => {
      batches.push(events);
      for (const { id } of events) seen.set(id, (seen.get(id) ?? 0) + 1);
    },
    ...options,
  });
  return { seen, batches, [Symbol.asyncDispose]: () => consumer[Symbol.asyncDispose]() };
}

/** A contest service's outbox and a consumer with their own connections, on their own prefix. */
function createWorld(
  url: string,
  { republishAfterMs, ...options }: Partial<ConsumerOptions> & { readonly republishAfterMs?: number } = {},
  prefix = newPrefix(),
) {
  const stack = new AsyncDisposableStack();
  const owner = stack.use(
    createTestPublisher({ url, prefix, database, ...(republishAfterMs !== undefined && { republishAfterMs }) }),
  );
  const stream = stack.use(
    connectEvents({ url: urlForUser('webhook', url), prefix, name: 'consumer', logger: createTestLogger().logger }),
  );
  const { seen, batches } = stack.use(createConsumer(stream, options));
  return {
    owner,
    stream,
    seen,
    batches,
    prefix,
    /** Resolves once the stream has a consumer; before that it discards what is published. */
    isConsumed: () =>
      eventually('the stream has a consumer', async () => (await owner.stream.look())?.isConsumed === true),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A connection as the test server's operator, who may do what no service may. */
async function operatorOf(prefix: string) {
  const stream = connectEvents({ url: natsUrl(), prefix, name: 'operator', logger: createTestLogger().logger });
  await eventually('it is connected', () => stream.connection.current !== undefined);
  return stream;
}

/** A `consume` that fails until the test opens the gate. */
function createGate() {
  const consumed = new Set<string>();
  let isOpen = false;
  return {
    consumed,
    consume: async (events: readonly Event[]) => {
      if (!isOpen) throw new Error('not open yet');
      for (const { id } of events) consumed.add(id);
    },
    open: () => {
      isOpen = true;
    },
  };
}

/** Runs the relay's worker until the outbox is empty. */
async function relayUntilEmpty(owner: TestPublisher): Promise<void> {
  await eventually('the outbox is empty', async () => {
    await owner.outbox.runOnce(new Date());
    return (await owner.waiting()).length === 0;
  });
}

const untilEmpty = (owner: TestPublisher) =>
  eventually('the outbox is empty', async () => (await owner.waiting()).length === 0);

const idsOf = (events: readonly Event[]) => events.map(({ id }) => id).sort();
const newEvents = (count: number) => Array.from({ length: count }, () => newEvent());

describe('events without failures', () => {
  test('a published event is consumed once and leaves the outbox', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const events = newEvents(3);
    await world.owner.happen(events);
    await untilEmpty(world.owner);
    expect(world.batches.flat().sort(byId)).toEqual([...events].sort(byId));
  });

  test('thousands of events are consumed in batches of at most 200', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const events = newEvents(3_000);
    await world.owner.happen(events);
    await untilEmpty(world.owner);
    expect([...world.seen.keys()].sort()).toEqual(idsOf(events));
    expect(Math.max(...world.batches.map(({ length }) => length))).toBeLessThanOrEqual(200);
    expect(world.batches.length).toBeLessThan(300);
  });

  test('events that are published together are sent as one message per subject', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const live = { programId: randomUUID(), environment: Environment.LIVE };
    await world.owner.happen([...newEvents(70), ...Array.from({ length: 20 }, () => newEvent({ tenant: live }))]);
    await untilEmpty(world.owner);
    const { streams } = await jetStreamManagerOf(world.stream.connection);
    expect((await streams.info(world.stream.name)).state.last_seq).toBe(3);
  });

  test('the publishing service has all acknowledgements when the consumer has stopped', async () => {
    await using owner = createTestPublisher({ url: natsUrl(), prefix: newPrefix(), database });
    const { logger } = createTestLogger();
    await using stream = connectEvents({ url: natsUrl(), prefix: owner.stream.prefix, name: 'consumer', logger });
    const consumer = createConsumer(stream);
    await eventually('the stream has a consumer', async () => (await owner.stream.look())?.isConsumed === true);
    await owner.happen(newEvents(1));
    await untilEmpty(owner);
    // The first event was acknowledged immediately; the next ones gather.
    const second = newEvents(1);
    await owner.happen(second);
    await eventually('it was consumed', () => consumer.seen.size === 2);
    await consumer[Symbol.asyncDispose]();
    await untilEmpty(owner);
  });

  test('an event whose transaction rolls back is not in the outbox', async () => {
    await using world = createWorld(natsUrl());
    const failing = database.transaction(async (tx) => {
      await world.owner.outbox.insert(tx, [newEvent()]);
      throw new Error('no fact');
    });
    await expect(failing).rejects.toThrow('no fact');
    expect(await world.owner.waiting()).toEqual([]);
  });

  test('an event that is inserted twice is in the outbox once', async () => {
    await using world = createWorld(natsUrl());
    const event = newEvent();
    await world.owner.outbox.insert(database, [event]);
    await world.owner.outbox.insert(database, [event]);
    expect(await world.owner.waiting()).toEqual([event.id]);
    const refusing = { query: () => Promise.reject(new Error('asked')) };
    await world.owner.outbox.insert(refusing, []);
  });

  test('a consumer ignores events of another prefix', async () => {
    await using world = createWorld(natsUrl());
    await using other = createWorld(natsUrl());
    await Promise.all([world.isConsumed(), other.isConsumed()]);
    const [mine, theirs] = [newEvent(), newEvent()];
    await world.owner.happen([mine]);
    await other.owner.happen([theirs]);
    await untilEmpty(world.owner);
    expect([...world.seen.keys()]).toEqual([mine.id]);
    expect([...other.seen.keys()]).toEqual([theirs.id]);
  });

  test('two consumers of one name share the events', async () => {
    await using world = createWorld(natsUrl());
    await using second = createConsumer(world.stream);
    await world.isConsumed();
    const events = newEvents(500);
    await world.owner.happen(events);
    await untilEmpty(world.owner);
    const counts = new Map([...world.seen, ...second.seen]);
    expect([...counts.keys()].sort()).toEqual(idsOf(events));
    expect(world.seen.size + second.seen.size).toBe(events.length);
  });
});

describe('events that the stream lost', () => {
  test('the relay publishes events again after a crash between the commit and the publication', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const events = newEvents(2);
    await world.owner.happen(events, { isPublished: false });
    await relayUntilEmpty(world.owner);
    expect([...world.seen.keys()].sort()).toEqual(idsOf(events));
  });

  test('the relay publishes an event again after its acknowledgement was lost', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const event = newEvent();
    await world.owner.happen([event]);
    await untilEmpty(world.owner);
    // Inserts the row again, as if the acknowledgement had been lost.
    await world.owner.outbox.insert(database, [event]);
    await relayUntilEmpty(world.owner);
    expect(world.seen.get(event.id)).toBe(2);
  });

  test('the relay publishes again only when the stream has a consumer', async () => {
    const prefix = newPrefix();
    await using owner = createTestPublisher({ url: natsUrl(), prefix, database });
    await using operator = await operatorOf(prefix);
    await operator.ensure();
    await eventually('it is connected', async () => (await owner.stream.look()) !== undefined);
    const events = newEvents(3);
    await owner.happen(events);
    await owner.outbox.drain();
    const before = await publishedAt();
    await eventually('the margin is over', async () => (await ageMs()) > 100);
    await owner.outbox.runOnce(new Date());
    expect(await publishedAt()).toEqual(before);

    await using stream = connectEvents({ url: natsUrl(), prefix, name: 'late', logger: createTestLogger().logger });
    await using late = createConsumer(stream);
    await relayUntilEmpty(owner);
    expect([...late.seen.keys()].sort()).toEqual(idsOf(events));
  });

  test.each(['purge', 'delete'] as const)('the relay publishes events again after a %s of the stream', async (how) => {
    const gate = createGate();
    await using world = createWorld(natsUrl(), { consume: gate.consume });
    await world.isConsumed();
    // The consumer gets fewer events before it acknowledges: the others are only in the stream.
    const events = newEvents(3_000);
    await world.owner.happen(events);
    await world.owner.outbox.drain();
    await using operator = await operatorOf(world.prefix);
    const { streams } = await jetStreamManagerOf(operator.connection);
    await streams[how](world.stream.name);
    gate.open();
    await relayUntilEmpty(world.owner);
    expect([...gate.consumed].sort()).toEqual(idsOf(events));
  });

  test('only one of two concurrent relays publishes each event again', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    await using second = createTestPublisher({ url: natsUrl(), prefix: world.prefix, database, republishAfterMs: 300 });
    await using first = createTestPublisher({ url: natsUrl(), prefix: world.prefix, database, republishAfterMs: 300 });
    await eventually(
      'both are connected',
      async () => (await first.stream.look()) !== undefined && (await second.stream.look()) !== undefined,
    );
    const events = newEvents(1_200);
    await database.transaction((tx) => first.outbox.insert(tx, events));
    await eventually('the margin is over', async () => (await ageMs()) > 300);
    await Promise.all([first.outbox.runOnce(new Date()), second.outbox.runOnce(new Date())]);
    await untilEmpty(first);
    expect(world.seen.size).toBe(events.length);
    expect([...world.seen.values()].every((times) => times === 1)).toBe(true);
  });

  test('the relay does not publish events again while they are being consumed', async () => {
    const consumed: string[] = [];
    const gate = Promise.withResolvers<void>();
    await using world = createWorld(natsUrl(), {
      consume: async (events) => {
        consumed.push(...events.map(({ id }) => id));
        await gate.promise;
      },
    });
    await world.isConsumed();
    const event = newEvent();
    await world.owner.happen([event]);
    await eventually('it is being consumed', () => consumed.length === 1);
    await eventually('the margin is over', async () => (await ageMs()) > 100);
    const before = await publishedAt();
    await world.owner.outbox.runOnce(new Date());
    expect(await publishedAt()).toEqual(before);
    gate.resolve();
    await untilEmpty(world.owner);
    expect(consumed).toEqual([event.id]);
  });
});

describe('an unreachable server', () => {
  test('a server that is unreachable at the start blocks no caller', async () => {
    await using server = await startOwnNats();
    await server.kill();
    await using world = createWorld(server.url);
    const events = newEvents(2);
    await world.owner.happen(events);
    await world.owner.outbox.runOnce(new Date());
    const began = Date.now();
    await world.owner.outbox.drain();
    expect(Date.now() - began).toBeLessThan(2_500);
    expect(await world.owner.waiting()).toEqual(idsOf(events));

    await server.start();
    await relayUntilEmpty(world.owner);
    expect([...world.seen.keys()].sort()).toEqual(idsOf(events));
  });

  test('an unreachable server delays the shutdown only for a moment', async () => {
    await using server = await startOwnNats();
    await server.kill();
    const world = createWorld(server.url);
    await world.owner.happen(newEvents(500));
    const began = Date.now();
    await world[Symbol.asyncDispose]();
    expect(Date.now() - began).toBeLessThan(2_500);
  });

  test('a server that is killed and restarted loses no event', async () => {
    await using server = await startOwnNats();
    await using world = createWorld(server.url);
    await world.isConsumed();
    const events = newEvents(900);
    for (let from = 0; from < events.length; from += 30) {
      await world.owner.happen(events.slice(from, from + 30));
      if (from === 300) await server.kill();
      if (from === 600) await server.start();
    }
    await relayUntilEmpty(world.owner);
    expect([...world.seen.keys()].sort()).toEqual(idsOf(events));
  });

  test('events continue after the consumer has made room in a full stream', async () => {
    await using server = await startOwnNats({ maxStoreBytes: 64 * 1_024 });
    const gate = createGate();
    const { logger, lines } = createTestLogger();
    await using world = createWorld(server.url, { consume: gate.consume });
    await world.isConsumed();
    await using owner = createTestPublisher({ url: server.url, prefix: world.prefix, database, logger });
    await eventually('the owner is connected', () => owner.stream.connection.current !== undefined);
    const events = newEvents(2_000);
    for (let from = 0; from < events.length; from += 100) await owner.happen(events.slice(from, from + 100));
    const isSaid = () =>
      lines.some(({ msg, error }) => msg.includes('could not be published') && error === 'insufficient resources');
    await eventually('the owner logs why', isSaid);
    expect(gate.consumed.size).toBe(0);

    gate.open();
    await relayUntilEmpty(owner);
    expect([...gate.consumed].sort()).toEqual(idsOf(events));
  });

  test('events that a server lost with its store are published again', async () => {
    await using server = await startOwnNats();
    const gate = createGate();
    await using world = createWorld(server.url, { consume: gate.consume });
    await world.isConsumed();
    const events = newEvents(3_000);
    await world.owner.happen(events);
    await world.owner.outbox.drain();
    await server.wipe();
    gate.open();
    await server.start();
    await relayUntilEmpty(world.owner);
    expect([...gate.consumed].sort()).toEqual(idsOf(events));
  });

  test('no caller waits for a server that hangs', async () => {
    await using server = await startOwnNats();
    await using world = createWorld(server.url);
    await world.isConsumed();
    server.pause();
    const events = newEvents(2_000);
    await world.owner.happen(events);
    const began = Date.now();
    await world.owner.outbox.drain();
    expect(Date.now() - began).toBeLessThan(2_500);
    server.resume();
    await relayUntilEmpty(world.owner);
    expect([...world.seen.keys()].sort()).toEqual(idsOf(events));
  });

  test('closing the client also closes its connection to a server that hangs', async () => {
    await using server = await startOwnNats();
    const world = createWorld(server.url);
    await world.isConsumed();
    const { current } = world.stream.connection;
    server.pause();
    const began = Date.now();
    await world[Symbol.asyncDispose]();
    expect(Date.now() - began).toBeLessThan(6_000);
    expect(current?.isClosed()).toBe(true);
    server.resume();
  });
});

describe('a failing consumer', () => {
  test('a batch that the consumer fails to commit is delivered again', async () => {
    let failures = 2;
    const consumed: string[] = [];
    await using world = createWorld(natsUrl(), {
      consume: async (events) => {
        if (failures-- > 0) throw new Error('not now');
        consumed.push(...events.map(({ id }) => id));
      },
    });
    await world.isConsumed();
    const event = newEvent();
    await world.owner.happen([event]);
    await untilEmpty(world.owner);
    expect(consumed).toEqual([event.id]);
  });

  test('an event that always fails delays no other event', async () => {
    const bad = newEvent();
    let tries = 0;
    let isRepaired = false;
    const consumed = new Set<string>();
    await using world = createWorld(natsUrl(), {
      consume: async (events) => {
        if (events.some(({ id }) => id === bad.id)) {
          tries += 1;
          if (!isRepaired) throw new Error('bad');
        }
        for (const { id } of events) consumed.add(id);
      },
    });
    await world.isConsumed();
    const good = newEvents(20);
    await world.owner.happen([...good.slice(0, 10), bad, ...good.slice(10)]);
    await eventually('the others left', async () => (await world.owner.waiting()).length === 1);
    expect([...consumed].sort()).toEqual(idsOf(good));

    await eventually('the stream has deleted it', async () => (await world.owner.stream.look())?.oldestAt === null);
    expect(tries).toBeGreaterThanOrEqual(5);
    isRepaired = true;
    await relayUntilEmpty(world.owner);
    expect(consumed).toContain(bad.id);
  });

  test('an event is retried longer while the database is unreachable', async () => {
    const missing = newEvent();
    let tries = 0;
    await using world = createWorld(natsUrl(), {
      consume: async (events) => {
        if (events.some(({ id }) => id === missing.id)) {
          tries += 1;
          if (tries <= 7) throw new (tries === 1 ? Error : ConnectionFailedError)('away');
        }
      },
    });
    await world.isConsumed();
    const others = newEvents(3);
    await world.owner.happen([...others, missing]);
    await eventually('the others left', async () => (await world.owner.waiting()).length === 1);
    await untilEmpty(world.owner);
    expect(tries).toBe(8);
  });

  test('messages that cannot be decoded do not fail the readable events', async () => {
    const { logger, lines } = createTestLogger();
    await using world = createWorld(natsUrl(), { logger });
    await world.isConsumed();
    const good = newEvent();
    const messages = [
      Buffer.from('no events'),
      encode(),
      encode(newEvent({ payload: undefined })),
      encode(newEvent({ owner: Owner.UNSPECIFIED }), good, newEvent({ payload: undefined })),
    ];
    await publishTo(world, subjectOf(world.prefix, good), messages);
    expect([...world.seen]).toEqual([[good.id, 1]]);
    expect(lines.filter(({ msg }) => msg.includes('cannot be read')).map(({ level }) => level)).toEqual(
      Array(4).fill('error'),
    );
  });
});

/**
 * Publishes as the operator, who may publish anything; resolves when the consumer has handled all
 * messages.
 */
async function publishTo(world: ReturnType<typeof createWorld>, subject: string, messages: readonly Uint8Array[]) {
  await using operator = await operatorOf(world.prefix);
  const stream = operator.connection.current?.jetstream();
  for (const message of messages) await stream?.publish(subject, message);
  await eventually('the stream has deleted them', async () => (await world.owner.stream.look())?.oldestAt === null);
}

describe('an event that another service published', () => {
  const attempt = {
    attemptId: newOwnedId('tournament'),
    challengeId: '',
    tournamentRoundId: randomUUID(),
    playerRef: 'p',
    score: 1,
    metThreshold: false,
    award: undefined,
    recordedAt: new Date(),
  };
  const ofRound = newEvent({ owner: Owner.TOURNAMENT, payload: { $case: 'attemptSettled', value: attempt } });
  const suspended = newEvent();

  test.each<[string, string, Event]>([
    ['on the subject of another owner', 'test.challenge.attempt.settled', ofRound],
    [
      'that names itself and an attempt of another',
      'test.challenge.attempt.settled',
      { ...ofRound, owner: Owner.CHALLENGE },
    ],
    ['on the subject of another environment', 'live.challenge.challenge.suspended', suspended],
    ['on the subject of another type', 'test.challenge.attempt.refunded', suspended],
    ['on a subject of an older release', 'test.challenge.suspended', suspended],
    ['without an environment', 'test.challenge.challenge.suspended', { ...suspended, tenant: undefined }],
  ])('an event %s is dropped, counted and logged', async (_, subject, event) => {
    const { logger, lines } = createTestLogger();
    await using world = createWorld(natsUrl(), { logger });
    await world.isConsumed();
    const good = newEvent();
    const before = await wrongOwnerCount();
    await publishTo(world, `${world.prefix}.${subject}`, [encode(event)]);
    await publishTo(world, subjectOf(world.prefix, good), [encode(good)]);
    expect([...world.seen.keys()]).toEqual([good.id]);
    expect(lines.filter(({ msg }) => msg.includes('does not own it')).map(({ level }) => level)).toEqual(['error']);
    expect(await wrongOwnerCount()).toBe(before + 1);
  });

  async function wrongOwnerCount(): Promise<number> {
    const line = (await metrics.metrics()).split('\n').find((text) => text.includes('outcome="wrong_owner"'));
    return Number(line?.split(' ').at(-1) ?? 0);
  }
});

test('an event that could never be published fails its transaction', async () => {
  await using world = createWorld(natsUrl());
  for (const event of [newEvent({ payload: undefined }), newEvent({ tenant: undefined })])
    await expect(world.owner.happen([newEvent(), event])).rejects.toThrow(TypeError);
  expect(await world.owner.waiting()).toEqual([]);
});

test('an acknowledgement that cannot be decoded is ignored', async () => {
  await using world = createWorld(natsUrl());
  await world.isConsumed();
  const event = newEvent();
  await world.owner.happen([event], { isPublished: false });
  const nats = world.stream.connection.current;
  nats?.publish(`${world.prefix}.acknowledged.challenge`, Buffer.from('no acknowledgement'));
  nats?.publish(
    `${world.prefix}.acknowledged.challenge`,
    EventsAcknowledged.encode({ eventIds: ['no uuid'] }).finish(),
  );
  await relayUntilEmpty(world.owner);
  expect([...world.seen.keys()]).toEqual([event.id]);
});

test('a consumer of an older release gets the configuration of this release', async () => {
  const { logger } = createTestLogger();
  await using stream = connectEvents({ url: natsUrl(), prefix: newPrefix(), name: 'x', logger });
  await eventually('it is connected', () => stream.connection.current !== undefined);
  await stream.ensure();
  const { consumers } = await jetStreamManagerOf(stream.connection);
  await consumers.add(stream.name, { durable_name: 'webhook', ack_policy: AckPolicy.Explicit, max_ack_pending: 7 });
  await using _ = createConsumer(stream);
  await eventually('it is changed', async () => {
    const { config } = await consumers.info(stream.name, 'webhook');
    return config.max_ack_pending === 50;
  });
});

test('a prefix that cannot be part of a subject is refused', () => {
  for (const prefix of ['', 'Laurel', 'a.b', 'a>', '*', 'a b'])
    expect(() => connectEvents({ url: natsUrl(), prefix, name: 'x', logger: createTestLogger().logger })).toThrow(
      RangeError,
    );
});

test('a standalone server refuses a stream with more than one replica', async () => {
  const { logger } = createTestLogger();
  await using three = connectEvents({ url: natsUrl(), prefix: newPrefix(), replicas: 3, name: 'x', logger });
  await eventually('it is connected', () => three.connection.current !== undefined);
  await expect(three.ensure()).rejects.toThrow('replicas > 1 not supported in non-clustered mode');

  await using one = connectEvents({ url: natsUrl(), prefix: newPrefix(), name: 'x', logger });
  await eventually('it is connected', () => one.connection.current !== undefined);
  await one.ensure();
  const { streams } = await jetStreamManagerOf(one.connection);
  expect((await streams.info(one.name)).config.num_replicas).toBe(1);
});

test('metrics show published, republished, consumed and waiting events', async () => {
  const text = await metrics.metrics();
  for (const name of [
    'laurel_events_published_total',
    'laurel_events_republished_total',
    'laurel_events_consumed_total',
    'laurel_outbox_events',
    'laurel_outbox_oldest_seconds',
    'laurel_nats_connected',
  ])
    expect(text).toContain(name);
});

describe('events of both environments', () => {
  const live = { programId: randomUUID(), environment: Environment.LIVE };
  const newLiveEvents = (count: number) => Array.from({ length: count }, () => newEvent({ tenant: live }));
  const longAgo = { text: `update outbox set published_at = clock_timestamp() - interval '1 minute'` };

  /** The series of the owner challenge, in each environment. */
  async function valuesOf(name: string): Promise<{ live: number; test: number }> {
    const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
    const of = (environment: string) =>
      values.find(({ labels }) => labels.environment === environment && labels.outcome !== 'failed')?.value ?? 0;
    return { live: of('live'), test: of('test') };
  }

  async function rises(name: string, before: { live: number; test: number }) {
    const after = await valuesOf(name);
    return { live: after.live - before.live, test: after.test - before.test };
  }

  test('due live events are published again before events of play money', async () => {
    // Makes each event due once, however long the run takes.
    await using world = createWorld(natsUrl(), { republishAfterMs: 30_000 });
    await world.isConsumed();
    const counted = ['laurel_events_republished_total', 'laurel_outbox_removed_total'] as const;
    const before = await Promise.all(counted.map(valuesOf));
    const ofLive = newLiveEvents(3);
    await world.owner.happen([...newEvents(700), ...ofLive], { isPublished: false });
    await database.query(longAgo);
    await world.owner.outbox.runOnce(new Date());
    expect(await valuesOf('laurel_outbox_events')).toEqual({ live: 3, test: 700 });
    expect((await valuesOf('laurel_outbox_oldest_seconds')).live).toBeGreaterThan(59);

    await untilEmpty(world.owner);
    expect(idsOf(world.batches.flat().slice(0, 3))).toEqual(idsOf(ofLive));
    const expected = { live: 3, test: 700 };
    expect(await Promise.all(counted.map((name, index) => rises(name, before[index] ?? expected)))).toEqual([
      expected,
      expected,
    ]);
    await world.owner.outbox.runOnce(new Date());
    expect(await valuesOf('laurel_outbox_events')).toEqual({ live: 0, test: 0 });
  });

  test('an unacknowledged event of play money raises only the age of play money', async () => {
    await using owner = createTestPublisher({ url: natsUrl(), prefix: newPrefix(), database });
    await owner.happen(newEvents(1), { isPublished: false });
    await database.query(longAgo);
    await owner.happen(newLiveEvents(1), { isPublished: false });
    await owner.outbox.runOnce(new Date());
    const { live: ageOfLive, test: ageOfTest } = await valuesOf('laurel_outbox_oldest_seconds');
    expect([ageOfLive < 30, ageOfTest > 59]).toEqual([true, true]);
  });

  test('publications are counted by the environment of the event', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const before = await valuesOf('laurel_events_published_total');
    await world.owner.happen([...newEvents(4), ...newLiveEvents(2)]);
    await untilEmpty(world.owner);
    expect(await rises('laurel_events_published_total', before)).toEqual({ live: 2, test: 4 });
  });
});

const byId = (one: Event, other: Event) => (one.id < other.id ? -1 : 1);

function encode(...events: readonly Event[]): Uint8Array {
  return Events.encode({ events: [...events] }).finish();
}

async function publishedAt(): Promise<Date[]> {
  const rows = await database.query<{ published_at: Date }>({
    text: 'select published_at from outbox order by event_id',
  });
  return rows.map((row) => row.published_at);
}

/** How long ago, by the database's clock, the newest event was published. */
async function ageMs(): Promise<number> {
  const [row] = await database.query<{ age: number }>({
    text: 'select (extract(epoch from clock_timestamp() - max(published_at)) * 1000)::float8 as age from outbox',
  });
  return row?.age ?? Number.NaN;
}
