/**
 * Takes events from the stream through a durable consumer, in batches of whatever has arrived. `take` resolves once the events are
 * committed in the taker's own database; only then are they acknowledged, and their owners told. So `take` sees every event at least
 * once, and an event twice whenever an acknowledgement or a word to the owner was lost: it has to know ids that it has seen.
 *
 * A batch that fails is taken again one by one, unless the database is away, so that one bad event fails alone. What failed is delivered
 * again after a pause. An event that failed alone too often is given back: it stays in its owner's outbox, whose relay publishes it anew.
 * Otherwise it would stand at the stream's beginning for ever, by which the relays tell what is missing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createCoalescer } from '@laurel/coalesce';
import type { AttemptOwner } from '@laurel/ids';
import { isConnectionFailure } from '@laurel/postgres';
import { type Event, Events, Owner } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import { AckPolicy, type Consumer, DeliverPolicy, type JsMsg, type NatsConnection, nanos } from 'nats';
import { pullMessages } from './pull.ts';
import { type EventStream, found, isSubset, manager } from './stream.ts';

export interface ConsumerOptions {
  readonly stream: EventStream;
  /** The name of the consumer; processes with the same name share its events. */
  readonly durable: string;
  /** Resolves once the events are committed. Never an empty list, nor more than 200. */
  readonly take: (events: readonly Event[]) => Promise<void>;
  readonly logger: Logger;
  /** How long an event that could not be taken waits for its next try. */
  readonly retryDelayMs?: number;
}

const MAX_EVENTS = 200;
const TAKE_GATHER_MS = 20;
/** Lists of taken events that are told together, and how long they are gathered: far less than an owner waits before it looks for them. */
const MAX_LISTS = 20;
const TELL_GATHER_MS = 100;
/** Messages of up to 50 events that are asked for at a time. */
const MAX_MESSAGES = 20;
/** Messages that were delivered and not acknowledged yet, over all processes: what bounds the memory of a slow taker. */
const MAX_ACK_PENDING = 50;
/** After so long without an acknowledgement an event is delivered again. */
const ACK_WAIT_MS = 10_000;
const MAX_FAILED_DELIVERIES = 5;
const ENSURE_AGAIN_MS = 250;

/** JetStream's `consumer not found`. */
const CONSUMER_NOT_FOUND = 10_014;

const NAME_OF_OWNER: Partial<Record<Owner, AttemptOwner>> = {
  [Owner.CHALLENGE]: 'challenge',
  [Owner.TOURNAMENT]: 'tournament',
};

interface Brought {
  readonly event: Event;
  readonly owner: AttemptOwner;
  readonly from: Delivery;
}

/** A message, which is answered when each of its events is taken or has failed. */
interface Delivery {
  readonly message: JsMsg;
  unanswered: number;
  hasFailed: boolean;
  /** Whether the database was away, which is no fault of an event. */
  hasMissed: boolean;
}

/** Returns at once, and takes whenever there is a stream. Disposing ends after the running `take` and those that had arrived. */
export function startConsumer(options: ConsumerOptions): AsyncDisposable {
  const { stream, durable, take, logger, retryDelayMs = 1_000 } = options;
  const taken = counter('laurel_events_taken_total', 'Deliveries of events to a consumer, by outcome.', [
    'durable',
    'outcome',
  ]);
  const stop = new AbortController();
  const sessions = new Set<Promise<void>>();

  const taker = createCoalescer<Brought, void>({
    name: `${durable}.take`,
    maxItems: MAX_EVENTS,
    gatherMs: TAKE_GATHER_MS,
    isolate: (error) => !isConnectionFailure(error),
    run: async (brought) => {
      try {
        await take(brought.map(({ event }) => event));
      } catch (error) {
        logger.warn({ err: error, durable, events: brought.length }, 'events could not be taken');
        throw error;
      }
      taken.inc({ durable, outcome: 'taken' }, brought.length);
      for (const { from } of brought) answer(from);
      teller.submit(brought).catch((error) => logger.warn({ err: error, durable }, 'owners could not be told'));
      return brought.map(() => undefined);
    },
  });

  /** Words to the owners. One that is lost costs a second publication, and is not said again before that. */
  const teller = createCoalescer<readonly Brought[], void>({
    name: `${durable}.tell`,
    maxItems: MAX_LISTS,
    gatherMs: TELL_GATHER_MS,
    isolate: false,
    run: async (lists) => {
      for (const [owner, ofOwner] of Map.groupBy(lists.flat(), (brought) => brought.owner)) {
        stream.tellTaken(
          owner,
          ofOwner.map(({ event }) => event.id),
        );
      }
      return lists.map(() => undefined);
    },
  });

  /** One more of its events is taken or has failed. */
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
    const readable = events.flatMap((event) => {
      const owner = knownOwner(event);
      return owner === undefined ? [] : [{ event, owner }];
    });
    if (readable.length < events.length || events.length === 0) {
      taken.inc({ durable, outcome: 'unreadable' }, Math.max(events.length - readable.length, 1));
      logger.error(
        { durable, subject: message.subject, sequence: message.seq },
        'an event cannot be read and is dropped',
      );
    }
    if (readable.length === 0) message.term();
    const from: Delivery = { message, unanswered: readable.length, hasFailed: false, hasMissed: false };
    for (const { event, owner } of readable) {
      taker.submit({ event, owner, from }).catch((error) => {
        taken.inc({ durable, outcome: 'failed' });
        from.hasFailed = true;
        from.hasMissed ||= isConnectionFailure(error);
        answer(from);
      });
    }
  }

  async function consume(nats: NatsConnection): Promise<void> {
    const broken = new AbortController();
    void nats.closed().then(() => broken.abort());
    const signal = AbortSignal.any([stop.signal, broken.signal]);
    let hasToldFault = false;
    while (!signal.aborted) {
      try {
        const consumer = await ensureConsumer(stream, durable);
        hasToldFault = false;
        await pullMessages({ consumer, batch: MAX_MESSAGES, signal, receive });
      } catch (error) {
        if (!hasToldFault) logger.warn({ err: error, durable }, 'there is nothing to take events from yet');
        hasToldFault = true;
      }
      await sleep(ENSURE_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  const up = stream.connection.onUp((nats) => {
    const session = consume(nats).finally(() => sessions.delete(session));
    sessions.add(session);
  });

  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      up[Symbol.dispose]();
      await Promise.all(sessions);
      await taker.drain();
      await teller.drain();
    },
  };
}

async function ensureConsumer(stream: EventStream, durable: string): Promise<Consumer> {
  await stream.ensure();
  const management = await manager(stream.connection);
  const { consumers } = management;
  const wanted = { ack_wait: nanos(ACK_WAIT_MS), max_ack_pending: MAX_ACK_PENDING };
  const present = await found(consumers.info(stream.name, durable), CONSUMER_NOT_FOUND);
  if (present === undefined) {
    await consumers.add(stream.name, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ...wanted,
    });
  } else if (!isSubset(wanted, present.config)) {
    // Made by an older release of ours.
    await consumers.update(stream.name, durable, wanted);
  }
  return await management.jetstream().consumers.get(stream.name, durable);
}

/** None for bytes that are no events. */
function readEvents(message: JsMsg): readonly Event[] {
  try {
    return Events.decode(message.data).events;
  } catch {
    return [];
  }
}

/** Undefined for an event of a kind or an owner that this release does not know. */
function knownOwner({ owner, payload }: Event): AttemptOwner | undefined {
  return payload === undefined ? undefined : NAME_OF_OWNER[owner];
}
