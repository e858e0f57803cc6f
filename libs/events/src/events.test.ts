import { randomUUID } from 'node:crypto';
import { ConnectionFailedError, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type Event, Events, EventsTaken, Owner } from '@laurel/proto/events';
import { metrics } from '@laurel/telemetry';
import { AckPolicy } from 'nats';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ConsumerOptions, startConsumer } from './consumer.ts';
import {
  createOutboxDatabase,
  createTestLogger,
  createTestOwner,
  eventually,
  natsUrl,
  newEvent,
  newPrefix,
  startOwnNats,
  type TestOwner,
} from './events.fixture.ts';
import { connectEvents, type EventStream, manager } from './stream.ts';

let database: Database;
beforeAll(async () => {
  database = await createOutboxDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() => database.query({ text: 'truncate outbox' }));

/** Takes into memory, and counts how often it saw each event. */
function createTaker(stream: EventStream, options: Partial<ConsumerOptions> = {}) {
  const seen = new Map<string, number>();
  const batches: (readonly Event[])[] = [];
  const consumer = startConsumer({
    stream,
    durable: 'webhook',
    logger: createTestLogger().logger,
    retryDelayMs: 20,
    take: async (events) => {
      batches.push(events);
      for (const { id } of events) seen.set(id, (seen.get(id) ?? 0) + 1);
    },
    ...options,
  });
  return { seen, batches, [Symbol.asyncDispose]: () => consumer[Symbol.asyncDispose]() };
}

/** An owner and a taker with connections of their own, on a prefix of their own. */
function createWorld(url: string, taker: Partial<ConsumerOptions> = {}, prefix = newPrefix()) {
  const stack = new AsyncDisposableStack();
  const owner = stack.use(createTestOwner({ url, prefix, database }));
  const stream = stack.use(connectEvents({ url, prefix, name: 'taker', logger: createTestLogger().logger }));
  const { seen, batches } = stack.use(createTaker(stream, taker));
  return {
    owner,
    stream,
    seen,
    batches,
    prefix,
    /** Until then the stream forgets what it is given. */
    isConsumed: () => eventually('somebody consumes', async () => (await owner.stream.look())?.isConsumed === true),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A take that fails until it is opened. */
function createGate() {
  const taken = new Set<string>();
  let isOpen = false;
  return {
    taken,
    take: async (events: readonly Event[]) => {
      if (!isOpen) throw new Error('not open yet');
      for (const { id } of events) taken.add(id);
    },
    open: () => {
      isOpen = true;
    },
  };
}

/** The relay's worker runs until the outbox is empty. */
async function relayUntilEmpty(owner: TestOwner): Promise<void> {
  await eventually('the outbox is empty', async () => {
    await owner.outbox.runOnce(new Date());
    return (await owner.waiting()).length === 0;
  });
}

const untilEmpty = (owner: TestOwner) =>
  eventually('the outbox is empty', async () => (await owner.waiting()).length === 0);

const idsOf = (events: readonly Event[]) => events.map(({ id }) => id).sort();
const newEvents = (count: number) => Array.from({ length: count }, () => newEvent());

describe('while everything works', () => {
  test('an event that is published is taken once and leaves the outbox', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const events = newEvents(3);
    await world.owner.happen(events);
    await untilEmpty(world.owner);
    expect(world.batches.flat().sort(byId)).toEqual([...events].sort(byId));
  });

  test('thousands of events arrive in batches of at most 200', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const events = newEvents(3_000);
    await world.owner.happen(events);
    await untilEmpty(world.owner);
    expect([...world.seen.keys()].sort()).toEqual(idsOf(events));
    expect(Math.max(...world.batches.map(({ length }) => length))).toBeLessThanOrEqual(200);
    expect(world.batches.length).toBeLessThan(300);
  });

  test('events that are published together are few messages, one kind in each', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const live = { programId: randomUUID(), environment: Environment.LIVE };
    await world.owner.happen([...newEvents(70), ...Array.from({ length: 20 }, () => newEvent({ tenant: live }))]);
    await untilEmpty(world.owner);
    const { streams } = await manager(world.stream.connection);
    expect((await streams.info(world.stream.name)).state.last_seq).toBe(3);
  });

  test('an owner is told at the latest when the taker ends', async () => {
    await using owner = createTestOwner({ url: natsUrl(), prefix: newPrefix(), database });
    const { logger } = createTestLogger();
    await using stream = connectEvents({ url: natsUrl(), prefix: owner.stream.prefix, name: 'taker', logger });
    const taker = createTaker(stream);
    await eventually('somebody consumes', async () => (await owner.stream.look())?.isConsumed === true);
    await owner.happen(newEvents(1));
    await untilEmpty(owner);
    // The first was told at once; what comes right behind it is gathered.
    const second = newEvents(1);
    await owner.happen(second);
    await eventually('it was taken', () => taker.seen.size === 2);
    await taker[Symbol.asyncDispose]();
    await untilEmpty(owner);
  });

  test('an event whose fact did not become true is not in the outbox', async () => {
    await using world = createWorld(natsUrl());
    const failing = database.transaction(async (tx) => {
      await world.owner.outbox.insert(tx, [newEvent()]);
      throw new Error('no fact');
    });
    await expect(failing).rejects.toThrow('no fact');
    expect(await world.owner.waiting()).toEqual([]);
  });

  test('an event that is inserted again is there once, and nothing is asked for no events', async () => {
    await using world = createWorld(natsUrl());
    const event = newEvent();
    await world.owner.outbox.insert(database, [event]);
    await world.owner.outbox.insert(database, [event]);
    expect(await world.owner.waiting()).toEqual([event.id]);
    const refusing = { query: () => Promise.reject(new Error('asked')) };
    await world.owner.outbox.insert(refusing, []);
  });

  test('events of another prefix are not seen', async () => {
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

  test('two takers of one name share the events', async () => {
    await using world = createWorld(natsUrl());
    await using second = createTaker(world.stream);
    await world.isConsumed();
    const events = newEvents(500);
    await world.owner.happen(events);
    await untilEmpty(world.owner);
    const counts = new Map([...world.seen, ...second.seen]);
    expect([...counts.keys()].sort()).toEqual(idsOf(events));
    expect(world.seen.size + second.seen.size).toBe(events.length);
  });
});

describe('what was lost is published again', () => {
  test('after a crash between the commit and the publication', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const events = newEvents(2);
    await world.owner.happen(events, { isPublished: false });
    await relayUntilEmpty(world.owner);
    expect([...world.seen.keys()].sort()).toEqual(idsOf(events));
  });

  test('after the word that it was taken was lost', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    const event = newEvent();
    await world.owner.happen([event]);
    await untilEmpty(world.owner);
    // As if nobody had told: the row is there again.
    await world.owner.outbox.insert(database, [event]);
    await relayUntilEmpty(world.owner);
    expect(world.seen.get(event.id)).toBe(2);
  });

  test('once somebody consumes the stream, and not before', async () => {
    const prefix = newPrefix();
    await using owner = createTestOwner({ url: natsUrl(), prefix, database });
    await eventually('it is connected', () => owner.stream.connection.current !== undefined);
    await owner.stream.ensure();
    const events = newEvents(3);
    await owner.happen(events);
    await owner.outbox.drain();
    const before = await publishedAt();
    await eventually('the margin is over', async () => (await ageMs()) > 100);
    await owner.outbox.runOnce(new Date());
    expect(await publishedAt()).toEqual(before);

    await using stream = connectEvents({ url: natsUrl(), prefix, name: 'late', logger: createTestLogger().logger });
    await using late = createTaker(stream);
    await relayUntilEmpty(owner);
    expect([...late.seen.keys()].sort()).toEqual(idsOf(events));
  });

  test.each(['purge', 'delete'] as const)('after a %s of the stream', async (how) => {
    const gate = createGate();
    await using world = createWorld(natsUrl(), { take: gate.take });
    await world.isConsumed();
    // More than a consumer is given before it acknowledges: the others are in the stream alone.
    const events = newEvents(3_000);
    await world.owner.happen(events);
    await world.owner.outbox.drain();
    const { streams } = await manager(world.owner.stream.connection);
    await streams[how](world.stream.name);
    gate.open();
    await relayUntilEmpty(world.owner);
    expect([...gate.taken].sort()).toEqual(idsOf(events));
  });

  test('by one of two relays at a time', async () => {
    await using world = createWorld(natsUrl());
    await world.isConsumed();
    await using second = createTestOwner({ url: natsUrl(), prefix: world.prefix, database, republishAfterMs: 300 });
    await using first = createTestOwner({ url: natsUrl(), prefix: world.prefix, database, republishAfterMs: 300 });
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

  test('but not what is still on its way', async () => {
    const taken: string[] = [];
    const gate = Promise.withResolvers<void>();
    await using world = createWorld(natsUrl(), {
      take: async (events) => {
        taken.push(...events.map(({ id }) => id));
        await gate.promise;
      },
    });
    await world.isConsumed();
    const event = newEvent();
    await world.owner.happen([event]);
    await eventually('it is being taken', () => taken.length === 1);
    await eventually('the margin is over', async () => (await ageMs()) > 100);
    const before = await publishedAt();
    await world.owner.outbox.runOnce(new Date());
    expect(await publishedAt()).toEqual(before);
    gate.resolve();
    await untilEmpty(world.owner);
    expect(taken).toEqual([event.id]);
  });
});

describe('a server that is away', () => {
  test('at the start keeps nobody waiting, and everything arrives once it is there', async () => {
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

  test('for ever ends nobody’s shutdown later than a moment', async () => {
    await using server = await startOwnNats();
    await server.kill();
    const world = createWorld(server.url);
    await world.owner.happen(newEvents(500));
    const began = Date.now();
    await world[Symbol.asyncDispose]();
    expect(Date.now() - began).toBeLessThan(2_500);
  });

  test('that was killed and comes back loses nothing', async () => {
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

  test('that lost its store is filled again', async () => {
    await using server = await startOwnNats();
    const gate = createGate();
    await using world = createWorld(server.url, { take: gate.take });
    await world.isConsumed();
    const events = newEvents(3_000);
    await world.owner.happen(events);
    await world.owner.outbox.drain();
    await server.wipe();
    gate.open();
    await server.start();
    await relayUntilEmpty(world.owner);
    expect([...gate.taken].sort()).toEqual(idsOf(events));
  });

  test('or hangs is not waited for, and goes on where it stood', async () => {
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

  test('or hangs keeps no connection open at the end', async () => {
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

describe('a take that fails', () => {
  test('is tried again', async () => {
    let failures = 2;
    const taken: string[] = [];
    await using world = createWorld(natsUrl(), {
      take: async (events) => {
        if (failures-- > 0) throw new Error('not now');
        taken.push(...events.map(({ id }) => id));
      },
    });
    await world.isConsumed();
    const event = newEvent();
    await world.owner.happen([event]);
    await untilEmpty(world.owner);
    expect(taken).toEqual([event.id]);
  });

  test('for one event keeps no other back, and that one goes back to its outbox and comes again', async () => {
    const bad = newEvent();
    let tries = 0;
    let isMended = false;
    const taken = new Set<string>();
    await using world = createWorld(natsUrl(), {
      take: async (events) => {
        if (events.some(({ id }) => id === bad.id)) {
          tries += 1;
          if (!isMended) throw new Error('bad');
        }
        for (const { id } of events) taken.add(id);
      },
    });
    await world.isConsumed();
    const good = newEvents(20);
    await world.owner.happen([...good.slice(0, 10), bad, ...good.slice(10)]);
    await eventually('the others left', async () => (await world.owner.waiting()).length === 1);
    expect([...taken].sort()).toEqual(idsOf(good));

    await eventually('the stream let go of it', async () => (await world.owner.stream.look())?.oldestAt === null);
    expect(tries).toBeGreaterThanOrEqual(5);
    isMended = true;
    await relayUntilEmpty(world.owner);
    expect(taken).toContain(bad.id);
  });

  test('because the database is away is tried for longer, and what a message brought beside it is told meanwhile', async () => {
    const missing = newEvent();
    let tries = 0;
    await using world = createWorld(natsUrl(), {
      take: async (events) => {
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

  test('is not blamed on what cannot be read: that is dropped and logged', async () => {
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
    const stream = world.stream.connection.current?.jetstream();
    for (const message of messages) await stream?.publish(`${world.prefix}.live.of.tomorrow`, message);
    await eventually('the stream let go of them', async () => (await world.owner.stream.look())?.oldestAt === null);
    expect([...world.seen]).toEqual([[good.id, 1]]);
    expect(lines.filter(({ msg }) => msg.includes('cannot be read')).map(({ level }) => level)).toEqual(
      Array(4).fill('error'),
    );
  });
});

test('an event that could never be published does not become true', async () => {
  await using world = createWorld(natsUrl());
  for (const event of [newEvent({ payload: undefined }), newEvent({ tenant: undefined })])
    await expect(world.owner.happen([newEvent(), event])).rejects.toThrow(TypeError);
  expect(await world.owner.waiting()).toEqual([]);
});

test('what is no word about taken events is passed over', async () => {
  await using world = createWorld(natsUrl());
  await world.isConsumed();
  const event = newEvent();
  await world.owner.happen([event], { isPublished: false });
  const nats = world.stream.connection.current;
  nats?.publish(`${world.prefix}.taken.challenge`, Buffer.from('no word'));
  nats?.publish(`${world.prefix}.taken.challenge`, EventsTaken.encode({ eventIds: ['no uuid'] }).finish());
  await relayUntilEmpty(world.owner);
  expect([...world.seen.keys()]).toEqual([event.id]);
});

test('a consumer that an older release made is changed to what this one wants', async () => {
  const { logger } = createTestLogger();
  await using stream = connectEvents({ url: natsUrl(), prefix: newPrefix(), name: 'x', logger });
  await eventually('it is connected', () => stream.connection.current !== undefined);
  await stream.ensure();
  const { consumers } = await manager(stream.connection);
  await consumers.add(stream.name, { durable_name: 'webhook', ack_policy: AckPolicy.Explicit, max_ack_pending: 7 });
  await using _ = createTaker(stream);
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

test('the stream is kept by as many servers as are asked for, which one that stands alone refuses', async () => {
  const { logger } = createTestLogger();
  await using three = connectEvents({ url: natsUrl(), prefix: newPrefix(), replicas: 3, name: 'x', logger });
  await eventually('it is connected', () => three.connection.current !== undefined);
  await expect(three.ensure()).rejects.toThrow('replicas > 1 not supported in non-clustered mode');

  await using one = connectEvents({ url: natsUrl(), prefix: newPrefix(), name: 'x', logger });
  await eventually('it is connected', () => one.connection.current !== undefined);
  await one.ensure();
  const { streams } = await manager(one.connection);
  expect((await streams.info(one.name)).config.num_replicas).toBe(1);
});

test('metrics tell what was published, relayed, taken and what waits', async () => {
  const text = await metrics.metrics();
  for (const name of [
    'laurel_events_published_total',
    'laurel_events_republished_total',
    'laurel_events_taken_total',
    'laurel_outbox_events',
  ])
    expect(text).toContain(name);
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
