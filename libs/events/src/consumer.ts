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
import { Event, Owner } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import { AckPolicy, type Consumer, DeliverPolicy, type JsMsg, type NatsConnection, nanos } from 'nats';
import { pullMessages } from './pull.ts';
import { type EventStream, manager } from './stream.ts';

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
/** Delivered and not acknowledged yet, over all processes: what bounds the memory of a slow taker. */
const MAX_ACK_PENDING = 1_000;
/** After so long without an acknowledgement an event is delivered again. */
const ACK_WAIT_MS = 10_000;
const MAX_FAILED_DELIVERIES = 5;
const ENSURE_AGAIN_MS = 250;

const NAME_OF_OWNER: Partial<Record<Owner, AttemptOwner>> = {
  [Owner.CHALLENGE]: 'challenge',
  [Owner.TOURNAMENT]: 'tournament',
};

interface Delivery {
  readonly message: JsMsg;
  readonly event: Event;
  readonly owner: AttemptOwner;
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

  const taker = createCoalescer<Delivery, void>({
    name: `${durable}.take`,
    maxItems: MAX_EVENTS,
    isolate: (error) => !isConnectionFailure(error),
    run: async (deliveries) => {
      try {
        await take(deliveries.map(({ event }) => event));
      } catch (error) {
        logger.warn({ err: error, durable, events: deliveries.length }, 'events could not be taken');
        throw error;
      }
      settle(deliveries);
      return deliveries.map(() => undefined);
    },
  });

  function settle(deliveries: readonly Delivery[]): void {
    taken.inc({ durable, outcome: 'taken' }, deliveries.length);
    for (const { message } of deliveries) message.ack();
    for (const [owner, ofOwner] of Map.groupBy(deliveries, (delivery) => delivery.owner)) {
      stream.tellTaken(
        owner,
        ofOwner.map(({ event }) => event.id),
      );
    }
  }

  function receive(message: JsMsg): void {
    const delivery = readDelivery(message);
    if (delivery === undefined) {
      taken.inc({ durable, outcome: 'unreadable' });
      logger.error(
        { durable, subject: message.subject, sequence: message.seq },
        'an event cannot be read and is dropped',
      );
      message.term();
      return;
    }
    taker.submit(delivery).catch((error) => {
      taken.inc({ durable, outcome: 'failed' });
      const isGivenBack = !isConnectionFailure(error) && message.info.deliveryCount >= MAX_FAILED_DELIVERIES;
      if (isGivenBack) message.term();
      else message.nak(retryDelayMs);
    });
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
        await pullMessages({ consumer, batch: MAX_EVENTS, signal, receive });
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
    },
  };
}

async function ensureConsumer(stream: EventStream, durable: string): Promise<Consumer> {
  await stream.ensure();
  const management = await manager(stream.connection);
  await management.consumers.add(stream.name, {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: MAX_ACK_PENDING,
    deliver_policy: DeliverPolicy.All,
  });
  return await management.jetstream().consumers.get(stream.name, durable);
}

/** Undefined for bytes that are no event, and for an event of a kind or an owner that this release does not know. */
function readDelivery(message: JsMsg): Delivery | undefined {
  try {
    const event = Event.decode(message.data);
    const owner = NAME_OF_OWNER[event.owner];
    return event.payload === undefined || owner === undefined ? undefined : { message, event, owner };
  } catch {
    return undefined;
  }
}
