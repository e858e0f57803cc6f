/**
 * Consumes a batch of events in one durable commit. It stores each event's id, inserts a delivery
 * for every matching endpoint, and appends sandbox events to their program's log.
 *
 * An event that is already stored changes nothing. A live event without a matching endpoint costs
 * one row, with its id. Sends follow the commit, so an endpoint's failure does not affect the
 * stream.
 */

import type { Database } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import type { Clock } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import { newId } from '@laurel/values/ids';
import type { DeliveryQueue } from '../domain/delivery-queues.ts';
import { composeBody } from '../domain/envelope.ts';
import { failpoint } from '../failpoints.ts';
import {
  type EndpointMatch,
  type EventDelivery,
  insertEventsWithDeliveries,
  insertUnmatchedEvents,
  type SandboxEvent,
} from '../repository/consumed-events.ts';
import type { Dispatcher } from '../workers/deliver.ts';
import { type ParsedEvent, parseEvent } from './parse-event.ts';

/** Resolves once the events are committed. */
export type ConsumeEvents = (events: readonly Event[]) => Promise<void>;

export function createConsumeEvents({
  database,
  dispatcher,
  clock,
}: {
  database: Pick<Database, 'write'>;
  dispatcher: Pick<Dispatcher, 'wake'>;
  clock: Clock;
}): ConsumeEvents {
  const made = counter('laurel_webhook_deliveries_total', 'Deliveries that events made, by environment.', [
    'environment',
  ]);

  return async (events) => {
    const byId = new Map(events.map((event) => [event.id.toLowerCase(), parseEvent(event)]));
    const consumedAt = clock();
    let woken: readonly DeliveryQueue[] = [];
    const sandbox = [...byId.values()].filter(({ tenant }) => tenant.environment === 'test').map(toSandboxEvent);
    await failpoint('webhook.consume.before-commit');
    const matches = await insertUnmatchedEvents(database, [...byId.values()].map(scopeOf), sandbox, consumedAt);
    if (matches.length > 0) {
      const composed = composeDeliveries(matches, byId, consumedAt);
      woken = await insertEventsWithDeliveries(database, [...byId.keys()], composed, sandbox, consumedAt);
    }
    await failpoint('webhook.consume.after-commit');
    for (const { environment } of woken) made.inc({ environment });
    dispatcher.wake(woken);
  };
}

function scopeOf({ id, occurredAt, tenant, fact }: ParsedEvent) {
  return { id, type: fact.type, occurredAt, tenant };
}

function toSandboxEvent(event: ParsedEvent): SandboxEvent {
  return {
    eventId: event.id,
    programId: event.tenant.programId,
    eventType: event.fact.type,
    body: bodyOf(event),
  };
}

/** Composes the same bytes for the same event every time. */
function bodyOf({ fact, occurredAt, tenant }: ParsedEvent): Buffer {
  return composeBody(fact, { occurredAt, isSandbox: tenant.environment === 'test' });
}

/** Every endpoint gets the same body of an event. */
function composeDeliveries(
  matches: readonly EndpointMatch[],
  byId: ReadonlyMap<string, ParsedEvent>,
  consumedAt: Date,
): readonly EventDelivery[] {
  return [...Map.groupBy(matches, ({ eventId }) => eventId)].flatMap(([eventId, ofEvent]) => {
    const event = byId.get(eventId);
    if (event === undefined) throw new Error(`the event ${eventId} was matched and is not in the batch`);
    const { fact, tenant } = event;
    const body = bodyOf(event);
    return ofEvent.map(({ endpointId }) => ({
      id: newId(consumedAt),
      endpointId,
      eventId,
      eventType: fact.type,
      tenant,
      body,
    }));
  });
}
