/**
 * The outbox of a contest service. The commit that makes a fact true inserts its event; the same
 * process publishes the event right after the commit, and removes it when the consumer has
 * acknowledged it. No caller waits for NATS; the relay publishes again what was not stored.
 */
import { createCoalescer, createCoalescersByEnvironment } from '@laurel/coalesce';
import { type Database, isConnectionFailure, type Queryable } from '@laurel/postgres';
import { Event } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import type { ContestServiceName } from '@laurel/values/ids';
import { ENVIRONMENTS } from '@laurel/values/tenant';
import { failpoint } from './failpoints.ts';
import { createRelay } from './relay.ts';
import { deleteEvents, insertEvents, type OutboxRow } from './repository/outbox.ts';
import { type EventStream, environmentOf, subjectOf } from './stream.ts';
import { withinMs } from './within.ts';

export interface Outbox extends AsyncDisposable {
  /**
   * Inserts the events in the transaction that makes their facts true. Does nothing for an empty
   * list; fits `commitWith`.
   */
  insert(on: Queryable, events: readonly Event[]): Promise<void>;
  /**
   * The rows that `insert` writes, for a contest service whose own statement writes them together
   * with its other rows.
   */
  rowsOf(events: readonly Event[]): readonly OutboxRow[];
  /** Publishes the events after their transaction has committed. Never throws and never waits. */
  publish(events: readonly Event[]): void;
  /** The relay: publishes again what the stream misses. */
  runOnce(now: Date): Promise<void>;
  /** Waits for running publications, but not for an unreachable NATS. */
  drain(): Promise<void>;
}

/** The relay's margin, unless the service sets another. */
export const DEFAULT_REPUBLISH_AFTER_MS = 5_000;
const MAX_EVENTS = 200;
/**
 * Several batches are published at a time, so that a full one need not wait for the result of the
 * previous one.
 */
const PUBLISH_LANES = 4;
const PUBLISH_GATHER_MS = 50;
/** Lists of acknowledged events that one statement removes. */
const MAX_LISTS = 50;
/**
 * How long acknowledged events gather before they are removed: far less than the relay's margin.
 */
const REMOVE_GATHER_MS = 50;
const DRAIN_MS = 2_000;

export function createOutbox(options: {
  owner: ContestServiceName;
  database: Database;
  stream: EventStream;
  logger: Logger;
  /** The relay's margin: how long an event may stay unacknowledged after its publication. */
  republishAfterMs?: number;
}): Outbox {
  const { owner, database, stream, logger, republishAfterMs = DEFAULT_REPUBLISH_AFTER_MS } = options;
  const published = counter(
    'laurel_events_published_total',
    'Events handed to the stream by their owner, by outcome.',
    ['owner', 'outcome', 'environment'],
  );
  const removed = counter(
    'laurel_outbox_removed_total',
    'Events that left the outbox because their consumer acknowledged them.',
    ['owner', 'environment'],
  );
  // A series that begins at 1 shows no increase: without the 0 before it, an alert would miss it.
  for (const environment of ENVIRONMENTS) removed.inc({ owner, environment }, 0);
  const relay = createRelay({ owner, database, stream, logger, marginMs: republishAfterMs });

  const publisher = createCoalescersByEnvironment<Event, void>({
    environmentOf,
    create: (environment) =>
      createCoalescer({
        name: `${owner}.outbox.publish`,
        maxItems: MAX_EVENTS,
        lanes: PUBLISH_LANES,
        gatherMs: PUBLISH_GATHER_MS,
        isolate: false,
        run: async (events) => {
          await failpoint(`${owner}.outbox.before-publish`);
          const { stored, error } = await stream.publish(events);
          await failpoint(`${owner}.outbox.after-publish`);
          published.inc({ owner, outcome: 'stored', environment }, stored);
          if (stored < events.length) published.inc({ owner, outcome: 'failed', environment }, events.length - stored);
          // connection.ts logs a broken connection.
          if (error !== undefined && stream.connection.current !== undefined)
            logger.warn({ error, missing: events.length - stored }, 'events could not be published; the relay will');
          return events.map(() => undefined);
        },
      }),
  });

  const remover = createCoalescer<readonly string[], void>({
    name: `${owner}.outbox.remove`,
    maxItems: MAX_LISTS,
    gatherMs: REMOVE_GATHER_MS,
    isolate: (error) => !isConnectionFailure(error),
    run: async (lists) => {
      const eventIds = lists.flat();
      for (const environment of await deleteEvents(database, eventIds)) removed.inc({ owner, environment });
      return lists.map(() => undefined);
    },
  });
  const acknowledged = stream.onAcknowledged(owner, (eventIds) => {
    // An event whose removal fails is published and acknowledged again.
    remover
      .submit(eventIds)
      .catch((error) => logger.warn({ err: error }, 'acknowledged events are still in the outbox'));
  });

  function rowsOf(events: readonly Event[]): readonly OutboxRow[] {
    // Throws for an event that could never be published, so that its transaction fails.
    for (const event of events) subjectOf(stream.prefix, event);
    return events.map(toRow);
  }

  return {
    insert: async (on, events) => {
      if (events.length === 0) return;
      await insertEvents(on, rowsOf(events));
    },
    rowsOf,
    publish: (events) => {
      for (const event of events) {
        const environment = environmentOf(event);
        publisher.submit(event).catch(() => published.inc({ owner, outcome: 'failed', environment }));
      }
    },
    runOnce: () => relay.runOnce(),
    drain: () => withinMs(DRAIN_MS, publisher.drain()),
    [Symbol.asyncDispose]: async () => {
      await withinMs(DRAIN_MS, publisher.drain());
      acknowledged[Symbol.dispose]();
      await remover.drain();
    },
  };
}

function toRow(event: Event): OutboxRow {
  const bytes = Event.encode(event).finish();
  const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { id: event.id, payload, environment: environmentOf(event) };
}
