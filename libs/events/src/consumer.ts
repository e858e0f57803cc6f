/**
 * Consumes events from the stream through a durable consumer, in batches of all that have arrived.
 * `consume` resolves once the consuming service has committed the events to its own database. Only
 * then are they acknowledged, to the stream and to their owners: an event's owner is the contest
 * service that published it. `consume` gets every event at least once, and again when an
 * acknowledgement was lost, so it must deduplicate by event id.
 *
 * The consumer accepts an event only from its owner. NATS lets a contest service publish only on
 * subjects with its own name, so a message must arrive on the subject of its event. An event on
 * another subject, or about the other contest service's attempt, is dropped, counted and logged.
 *
 * A batch that fails is repeated event by event, so that one bad event fails alone; but not if the
 * database is unreachable. A failed event is delivered again after a pause. Once an event has
 * failed in MAX_FAILED_DELIVERIES deliveries, the consumer ends its delivery. The event stays in
 * its owner's outbox, and the relay publishes it again. It must not stay in the stream, because a
 * relay takes every event that is older than the stream's oldest message as acknowledged or lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createCoalescer } from '@laurel/coalesce';
import { isConnectionFailure } from '@laurel/postgres';
import { type Event, Events } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import type { ContestServiceName } from '@laurel/values/ids';
import { AckPolicy, type Consumer, DeliverPolicy, type JsMsg, type NatsConnection, nanos } from 'nats';
import { nameOfOwner, ownerOfEvent } from './event-owner.ts';
import { pullMessages } from './pull.ts';
import { type EventStream, isSubset, jetStreamManagerOf, subjectOf, undefinedIfAbsent } from './stream.ts';

export interface ConsumerOptions {
  readonly stream: EventStream;
  /** The name of the consumer. Processes with the same name share its events. */
  readonly durable: string;
  /** Resolves once the events are committed. Gets 1 to 200 events. */
  readonly consume: (events: readonly Event[]) => Promise<void>;
  readonly logger: Logger;
  /** How long an event waits for its next delivery after `consume` failed for it. */
  readonly retryDelayMs?: number;
}

const MAX_EVENTS = 200;
const CONSUME_GATHER_MS = 20;
/**
 * How many lists of events are acknowledged to owners together, and how long they gather: far less
 * than the relay's margin.
 */
const MAX_LISTS = 20;
const ACKNOWLEDGE_GATHER_MS = 100;
/** How many messages are requested at a time, of up to 50 events each. */
const MAX_MESSAGES = 20;
/**
 * How many delivered messages may be unacknowledged, over all processes: bounds the memory of a
 * slow consumer.
 */
const MAX_ACK_PENDING = 50;
/** An event without an acknowledgement for this long is delivered again. */
const ACK_WAIT_MS = 10_000;
const MAX_FAILED_DELIVERIES = 5;
const ENSURE_AGAIN_MS = 250;

/** JetStream's `consumer not found`. */
const CONSUMER_NOT_FOUND = 10_014;

interface Received {
  readonly event: Event;
  readonly owner: ContestServiceName;
  readonly from: Delivery;
}

/** A message. It is acknowledged or refused when each of its events is committed or has failed. */
interface Delivery {
  readonly message: JsMsg;
  unanswered: number;
  hasFailed: boolean;
  /**
   * Whether an event failed because the database was unreachable. Then the message is delivered
   * again, however often it has failed.
   */
  hasMissed: boolean;
}

/**
 * Returns immediately, and consumes whenever there is a stream. Disposing waits until every event
 * that has arrived is consumed or has failed.
 */
export function startConsumer(options: ConsumerOptions): AsyncDisposable {
  const { stream, durable, consume, logger, retryDelayMs = 1_000 } = options;
  const consumed = counter('laurel_events_consumed_total', 'Deliveries of events to a consumer, by outcome.', [
    'durable',
    'outcome',
  ]);
  const stop = new AbortController();
  const sessions = new Set<Promise<void>>();

  const batches = createCoalescer<Received, void>({
    name: `${durable}.consume`,
    maxItems: MAX_EVENTS,
    gatherMs: CONSUME_GATHER_MS,
    isolate: (error) => !isConnectionFailure(error),
    run: async (received) => {
      try {
        await consume(received.map(({ event }) => event));
      } catch (error) {
        logger.warn({ err: error, durable, events: received.length }, 'events could not be consumed');
        throw error;
      }
      consumed.inc({ durable, outcome: 'committed' }, received.length);
      for (const { from } of received) answer(from);
      acknowledger
        .submit(received)
        .catch((error) => logger.warn({ err: error, durable }, 'events could not be acknowledged to their owners'));
      return received.map(() => undefined);
    },
  });

  /**
   * Sends each acknowledgement to the event's owner once. If it is lost, the owner publishes the
   * event again, and the consumer acknowledges it again.
   */
  const acknowledger = createCoalescer<readonly Received[], void>({
    name: `${durable}.acknowledge`,
    maxItems: MAX_LISTS,
    gatherMs: ACKNOWLEDGE_GATHER_MS,
    isolate: false,
    run: async (lists) => {
      for (const [owner, ofOwner] of Map.groupBy(lists.flat(), (received) => received.owner)) {
        stream.acknowledge(
          owner,
          ofOwner.map(({ event }) => event.id),
        );
      }
      return lists.map(() => undefined);
    },
  });

  /** Counts one more event of the message as committed or failed. */
  function answer(delivery: Delivery): void {
    delivery.unanswered -= 1;
    if (delivery.unanswered > 0) return;
    const { message, hasFailed, hasMissed } = delivery;
    if (!hasFailed) message.ack();
    else if (!hasMissed && message.info.deliveryCount >= MAX_FAILED_DELIVERIES) message.term();
    else message.nak(retryDelayMs);
  }

  function receive(message: JsMsg): void {
    const events = readEvents(message);
    const known = events.filter(isKnown);
    const owned = known.flatMap((event) => {
      const owner = ownerOn(message.subject, event);
      return owner === undefined ? [] : [{ event, owner }];
    });
    const position = { durable, subject: message.subject, sequence: message.seq };
    if (known.length < events.length || events.length === 0) {
      consumed.inc({ durable, outcome: 'unreadable' }, Math.max(events.length - known.length, 1));
      logger.error(position, 'an event cannot be read and is dropped');
    }
    if (owned.length < known.length) {
      consumed.inc({ durable, outcome: 'wrong_owner' }, known.length - owned.length);
      logger.error(position, 'an event was published by a service that does not own it and is dropped');
    }
    if (owned.length === 0) message.term();
    const from: Delivery = { message, unanswered: owned.length, hasFailed: false, hasMissed: false };
    for (const { event, owner } of owned) {
      batches.submit({ event, owner, from }).catch((error) => {
        consumed.inc({ durable, outcome: 'failed' });
        from.hasFailed = true;
        from.hasMissed ||= isConnectionFailure(error);
        answer(from);
      });
    }
  }

  /** The owner of the event, if it arrived on that owner's subject. */
  function ownerOn(subject: string, event: Event): ContestServiceName | undefined {
    const owner = ownerOfEvent(event);
    return owner !== undefined && isOn(subject, event) ? owner : undefined;
  }

  function isOn(subject: string, event: Event): boolean {
    try {
      return subjectOf(stream.prefix, event) === subject;
    } catch {
      return false;
    }
  }

  async function runSession(nats: NatsConnection): Promise<void> {
    const broken = new AbortController();
    void nats.closed().then(() => broken.abort());
    const signal = AbortSignal.any([stop.signal, broken.signal]);
    let hasLoggedError = false;
    while (!signal.aborted) {
      try {
        const consumer = await ensureConsumer(stream, durable);
        hasLoggedError = false;
        await pullMessages({ consumer, batch: MAX_MESSAGES, signal, receive });
      } catch (error) {
        if (!hasLoggedError) logger.warn({ err: error, durable }, 'there is no stream to consume events from yet');
        hasLoggedError = true;
      }
      await sleep(ENSURE_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  const up = stream.connection.onUp((nats) => {
    const session = runSession(nats).finally(() => sessions.delete(session));
    sessions.add(session);
  });

  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      up[Symbol.dispose]();
      await Promise.all(sessions);
      await batches.drain();
      await acknowledger.drain();
    },
  };
}

async function ensureConsumer(stream: EventStream, durable: string): Promise<Consumer> {
  await stream.ensure();
  const management = await jetStreamManagerOf(stream.connection);
  const { consumers } = management;
  const wanted = { ack_wait: nanos(ACK_WAIT_MS), max_ack_pending: MAX_ACK_PENDING };
  const present = await undefinedIfAbsent(consumers.info(stream.name, durable), CONSUMER_NOT_FOUND);
  if (present === undefined) {
    await consumers.add(stream.name, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ...wanted,
    });
  } else if (!isSubset(wanted, present.config)) {
    // An older release created the consumer with other settings.
    await consumers.update(stream.name, durable, wanted);
  }
  return await management.jetstream().consumers.get(stream.name, durable);
}

/** Decodes the events of a message; empty if the bytes are not events. */
function readEvents(message: JsMsg): readonly Event[] {
  try {
    return Events.decode(message.data).events;
  } catch {
    return [];
  }
}

/** Whether this release knows the event's kind and owner. */
function isKnown({ owner, payload }: Event): boolean {
  return payload !== undefined && nameOfOwner(owner) !== undefined;
}
