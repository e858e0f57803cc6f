/**
 * The intake of events: one durable commit for a batch, which stores each event's id and writes a delivery for every matching endpoint. An
 * event that is stored already changes nothing, and one without a matching endpoint costs a row with its id. Sends follow the commit, so
 * an endpoint's failure does not affect the stream.
 */

import { newId } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Clock } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import { composeBody } from '../domain/envelope.ts';
import { failpoint } from '../failpoints.ts';
import { type EventDelivery, type Match, takeEvents, takeUnwanted } from '../repository/taken-events.ts';
import type { Dispatcher } from '../workers/deliver.ts';
import { type ParsedEvent, parseEvent } from './parse-event.ts';

/** Resolves once the events are committed. */
export type Take = (events: readonly Event[]) => Promise<void>;

export function createTake({
  database,
  dispatcher,
  clock,
}: {
  database: Database;
  dispatcher: Pick<Dispatcher, 'wake'>;
  clock: Clock;
}): Take {
  const made = counter('laurel_webhook_deliveries_total', 'Deliveries that events made.');

  return async (events) => {
    const byId = new Map(events.map((event) => [event.id.toLowerCase(), parseEvent(event)]));
    const takenAt = clock();
    let woken: readonly string[] = [];
    await failpoint('webhook.take.before-commit');
    const matches = await takeUnwanted(database, [...byId.values()].map(scopeOf), takenAt);
    if (matches.length > 0) {
      const composed = composeDeliveries(matches, byId, takenAt);
      woken = await takeEvents(database, [...byId.keys()], composed, takenAt);
    }
    await failpoint('webhook.take.after-commit');
    made.inc(woken.length);
    dispatcher.wake([...new Set(woken)]);
  };
}

function scopeOf({ id, occurredAt, tenant, fact }: ParsedEvent) {
  return { id, type: fact.type, occurredAt, tenant };
}

/** An event has one body, the same for every endpoint. */
function composeDeliveries(
  matches: readonly Match[],
  byId: ReadonlyMap<string, ParsedEvent>,
  takenAt: Date,
): readonly EventDelivery[] {
  return [...Map.groupBy(matches, ({ eventId }) => eventId)].flatMap(([eventId, ofEvent]) => {
    const event = byId.get(eventId);
    if (event === undefined) throw new Error(`the event ${eventId} was taken and not brought`);
    const { fact, occurredAt, tenant } = event;
    const body = composeBody(fact, { occurredAt, isSandbox: tenant.environment === 'test' });
    return ofEvent.map(({ endpointId }) => ({
      id: newId(takenAt),
      endpointId,
      eventId,
      eventType: fact.type,
      tenant,
      body,
    }));
  });
}
