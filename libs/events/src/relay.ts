/**
 * Publishes again the events that are in the outbox and not in the stream. An event has certainly
 * left the stream if two things hold: it was published longer ago than a margin, and the stream is
 * empty or its oldest message is younger than the event by the margin. The stream keeps order, so
 * everything older than its oldest message was acknowledged or lost. This repairs a crash between
 * commit and publication, a lost acknowledgement, and a stream that was purged or created again.
 *
 * A stream without a consumer discards what is published, so the relay waits until there is one.
 *
 * Events of real money go before events of play money, however many events of play money wait.
 */

import type { Database } from '@laurel/postgres';
import { Event } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import { counter, gauge } from '@laurel/telemetry';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';
import { leaseDue, measureOutbox } from './repository/outbox.ts';
import type { EventStream } from './stream.ts';

export interface Relay {
  runOnce(): Promise<void>;
}

const PAGE = 500;
/** A run ends after this many pages, so that a shutdown does not wait for a long outbox. */
const MAX_PAGES = 20;
const COUNT_LIMIT = 10_000;
const LIVE_FIRST: readonly Environment[] = ['live', 'test'];

export function createRelay(options: {
  owner: ContestServiceName;
  database: Database;
  stream: EventStream;
  logger: Logger;
  marginMs: number;
}): Relay {
  const { owner, database, stream, logger, marginMs } = options;
  const republished = counter(
    'laurel_events_republished_total',
    'Events that were missing in the stream, published again.',
    ['owner', 'environment'],
  );
  const waiting = gauge(
    'laurel_outbox_events',
    'Events in the outbox that their consumer has not acknowledged yet, counted up to 10000.',
    ['owner', 'environment'],
  );
  const oldest = gauge(
    'laurel_outbox_oldest_seconds',
    'Since the last publication of the event in the outbox that was published longest ago, or 0.',
    ['owner', 'environment'],
  );

  /** Returns false if the stream did not store everything: the rest waits for a later run. */
  async function publishDue(environment: Environment, oldestAt: Date | null): Promise<boolean> {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const rows = await leaseDue(database, { environment, marginMs, oldestAt, limit: PAGE });
      if (rows.length === 0) return true;
      const { stored, error } = await stream.publish(rows.map(({ payload }) => Event.decode(payload)));
      republished.inc({ owner, environment }, stored);
      if (error !== undefined) {
        logger.warn({ error, missing: rows.length - stored }, 'events could not be published again; a later run will');
        return false;
      }
      if (rows.length < PAGE) return true;
    }
    return true;
  }

  return {
    runOnce: async () => {
      const measures = await measureOutbox(database, COUNT_LIMIT);
      for (const { environment, events, oldestSeconds } of measures) {
        waiting.set({ owner, environment }, events);
        oldest.set({ owner, environment }, oldestSeconds);
      }
      // No event was published longer ago than the margin, so none is due.
      if (measures.every(({ oldestSeconds }) => oldestSeconds * 1_000 < marginMs)) return;
      const state = await stream.look();
      if (state === undefined || !state.isConsumed) return;
      for (const environment of LIVE_FIRST) {
        if (!(await publishDue(environment, state.oldestAt))) return;
      }
    },
  };
}
