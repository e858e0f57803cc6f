/**
 * The stream that carries the events of one stack. Its name is the prefix; it stores
 * `<prefix>.test.>` and `<prefix>.live.>` on disk until its consumer has acknowledged them. It is
 * not the source of truth: an unacknowledged event is also in its owner's outbox, from which relays
 * refill a stream that was purged, deleted or lost with its disk.
 *
 * Only consumers create it, because without a consumer it would discard what is published. Two
 * processes that create it at the same moment can break it: nats-server 2.9 then has two streams of
 * that name, one that stores and one that delivers (seen in one of a hundred runs on a busy
 * machine).
 *
 * The third part of a subject is the owner, so that NATS lets an owner publish only its own events
 * (nats-configuration.ts).
 *
 * `<prefix>.acknowledged.<owner>` carries the consumer's acknowledgements to the owner, outside the
 * stream; nothing stores them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Environment } from '@laurel/proto/common';
import { ENVIRONMENTS, findName } from '@laurel/proto/enum-names';
import { type Event, Events, EventsAcknowledged } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment as EnvironmentName } from '@laurel/values/tenant';
import {
  type ConsumerInfo,
  type JetStreamManager,
  type Msg,
  type NatsConnection,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { type Connection, connectNats } from './connection.ts';
import { ownerOfEvent } from './event-owner.ts';
import { eventTypeOf } from './event-type.ts';
import { createPublisher, type Publisher } from './publisher.ts';

export interface EventStream extends AsyncDisposable {
  readonly prefix: string;
  /** The stream's name in JetStream. */
  readonly name: string;
  readonly connection: Connection;
  /** Creates the stream unless it exists; for consumers. Rejects if JetStream is unreachable. */
  ensure(): Promise<void>;
  /**
   * Publishes events in few messages, because stream and consumers have a cost per message. Never
   * rejects.
   */
  publish(events: readonly Event[]): Promise<Publication>;
  /** The state of the stream; undefined if it cannot be read. */
  look(): Promise<StreamState | undefined>;
  /** Acknowledges events to their owner. Sent once, and may be lost. */
  acknowledge(owner: ContestServiceName, eventIds: readonly string[]): void;
  /** One process of the contest service receives each `acknowledge`. */
  onAcknowledged(owner: ContestServiceName, listener: (eventIds: readonly string[]) => void): Disposable;
}

/**
 * How many events are certainly in the stream, and why others are not. A stream that does not exist
 * yet is not an error.
 */
export interface Publication {
  readonly stored: number;
  readonly error: string | undefined;
}

export interface StreamState {
  /**
   * The instant of the oldest message; null if the stream is empty, or its consumers have
   * acknowledged everything.
   */
  readonly oldestAt: Date | null;
  /** Whether the stream has a consumer. Without one, it discards what is published. */
  readonly isConsumed: boolean;
}

/**
 * The allowed prefixes of the events' subjects. The prefix in upper case is the name of the stream.
 */
export const EVENTS_PREFIX_PATTERN = /^[a-z][a-z0-9_-]{0,31}$/;
export const EVENTS_PREFIX_RULE = 'must be a letter and up to 31 of a-z, 0-9, - and _';

const API_TIMEOUT_MS = 1_000;
const SPREAD_MS = 300;
/** Keeps any message far below a server's size limit. */
const MAX_EVENTS_OF_MESSAGE = 50;
/** An event not acknowledged for this long leaves the stream, and stays in its outbox. */
const MAX_AGE_MS = 3 * 24 * 3_600_000;

/** JetStream's `stream not found`. */
const STREAM_NOT_FOUND = 10_059;

/** Returns immediately; the connection opens in the background, and again whenever it breaks. */
export function connectEvents(options: {
  /** `nats://user:password@host:port`, several separated by commas. */
  url: string;
  /**
   * A PEM file with the authority of the server's certificate; without it the connection is not
   * encrypted.
   */
  caFile?: string | undefined;
  /** Stacks with different prefixes can share a broker without seeing each other's events. */
  prefix?: string;
  /**
   * How many servers of a cluster keep the stream: 1, 3 or 5, at most the cluster's size. All
   * processes of a stack agree.
   */
  replicas?: number;
  /** The name is shown in the broker's list of connections. */
  name: string;
  logger: Logger;
}): EventStream {
  const { url, caFile, prefix = 'laurel', replicas = 1, name, logger } = options;
  if (!EVENTS_PREFIX_PATTERN.test(prefix)) throw new RangeError(`the prefix of events ${EVENTS_PREFIX_RULE}`);
  const streamName = prefix.toUpperCase();
  const connection = connectNats({ url, caFile, name, logger });
  const publishers = new WeakMap<NatsConnection, Publisher>();
  let ensuring: Promise<void> | undefined;

  /** Creates the stream; concurrent calls of this process create it once. */
  function ensure(): Promise<void> {
    ensuring ??= ensureStream(connection, streamConfig(prefix, replicas)).finally(() => {
      ensuring = undefined;
    });
    return ensuring;
  }

  connection.onUp((nats) => {
    publishers.set(nats, createPublisher(nats));
  });

  return {
    prefix,
    name: streamName,
    connection,
    ensure,
    publish: async (events) => {
      const nats = connection.current;
      const bundles = bundlesOf(prefix, events);
      const answers = await (nats === undefined ? undefined : publishers.get(nats))?.publish(bundles.map(toMessage));
      if (answers === undefined) return { stored: 0, error: 'NATS is out of reach' };
      const stored = bundles.filter((_, index) => answers[index]?.kind === 'stored');
      const failed = answers.find((answer) => answer.kind === 'failed');
      return { stored: stored.reduce((sum, bundle) => sum + bundle.events.length, 0), error: failed?.error };
    },
    look: async () => {
      if (connection.current === undefined) return undefined;
      try {
        const { streams, consumers } = await jetStreamManagerOf(connection);
        const { state } = await streams.info(streamName);
        return streamStateOf(state, state.messages === 0 ? [] : await consumers.list(streamName).next());
      } catch {
        return undefined;
      }
    },
    acknowledge: (owner, eventIds) => {
      connection.current?.publish(
        `${prefix}.acknowledged.${owner}`,
        EventsAcknowledged.encode({ eventIds: [...eventIds] }).finish(),
      );
    },
    onAcknowledged: (owner, listener) => {
      let unsubscribe = () => {};
      const up = connection.onUp((nats) => {
        const subscription = nats.subscribe(`${prefix}.acknowledged.${owner}`, {
          queue: owner,
          callback: (_error, message) => {
            const eventIds = readAcknowledged(message);
            if (eventIds !== undefined) listener(eventIds);
          },
        });
        unsubscribe = () => subscription.unsubscribe();
      });
      return {
        [Symbol.dispose]: () => {
          up[Symbol.dispose]();
          unsubscribe();
        },
      };
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Throws for an event without an environment, which cannot be published. */
export function environmentOf(event: Event): EnvironmentName {
  const environment = findName(ENVIRONMENTS, event.tenant?.environment ?? Environment.UNSPECIFIED);
  if (environment === undefined) throw new TypeError(`the event ${event.id} has no environment`);
  return environment;
}

/**
 * `<prefix>.<environment>.<owner>.<event type>`. Throws for an event that cannot be published, or
 * not by the owner that it names.
 */
export function subjectOf(prefix: string, event: Event): string {
  const environment = environmentOf(event);
  const type = eventTypeOf(event);
  const owner = ownerOfEvent(event);
  if (owner === undefined) throw new TypeError(`the event ${event.id} is not its owner's to publish`);
  return `${prefix}.${environment}.${owner}.${type}`;
}

interface Bundle {
  readonly subject: string;
  readonly events: readonly Event[];
}

/** One message for all events of one subject, in order. */
function bundlesOf(prefix: string, events: readonly Event[]): readonly Bundle[] {
  return [...Map.groupBy(events, (event) => subjectOf(prefix, event))].flatMap(([subject, ofSubject]) =>
    Array.from({ length: Math.ceil(ofSubject.length / MAX_EVENTS_OF_MESSAGE) }, (_, index) => ({
      subject,
      events: ofSubject.slice(index * MAX_EVENTS_OF_MESSAGE, (index + 1) * MAX_EVENTS_OF_MESSAGE),
    })),
  );
}

function toMessage({ subject, events }: Bundle) {
  return { subject, payload: Events.encode({ events: [...events] }).finish() };
}

/** JetStream's management interface on the open connection; rejects if there is none. */
export async function jetStreamManagerOf(connection: Connection): Promise<JetStreamManager> {
  const nats = connection.current;
  if (nats === undefined) throw new Error('NATS is out of reach');
  return await nats.jetstreamManager({ checkAPI: false, timeout: API_TIMEOUT_MS });
}

function streamConfig(prefix: string, replicas: number) {
  return {
    name: prefix.toUpperCase(),
    subjects: [`${prefix}.test.>`, `${prefix}.live.>`],
    retention: RetentionPolicy.Interest,
    storage: StorageType.File,
    num_replicas: replicas,
    max_age: nanos(MAX_AGE_MS),
  } satisfies Partial<StreamConfig>;
}

/**
 * Resolves to undefined if JetStream responds with `notFound`: the stream or consumer does not
 * exist.
 */
export async function undefinedIfAbsent<Thing>(request: Promise<Thing>, notFound: number): Promise<Thing | undefined> {
  try {
    return await request;
  } catch (error) {
    if (codeOf(error) === notFound) return undefined;
    throw error;
  }
}

/** Whether the present configuration has every wanted value. */
export function isSubset<Config extends object>(wanted: Partial<Config>, present: Config): boolean {
  return Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(present[key as keyof Config], value));
}

async function ensureStream(connection: Connection, config: ReturnType<typeof streamConfig>): Promise<void> {
  const { streams } = await jetStreamManagerOf(connection);
  const find = () => undefinedIfAbsent(streams.info(config.name), STREAM_NOT_FOUND);
  let present = await find();
  if (present === undefined) {
    // Replicas that find no stream at the same moment must not create it at once: a random delay
    // lets the later ones find it.
    await sleep(Math.random() * SPREAD_MS);
    present = await find();
  }
  if (present === undefined) await streams.add(config);
  // An older release created the stream: change the values that can be changed.
  else if (!isSubset<StreamConfig>(config, present.config)) await streams.update(config.name, config);
}

/**
 * Decodes an acknowledgement; undefined if that fails. It must not throw: an error in a callback
 * ends all reading of its connection.
 */
function readAcknowledged(message: Msg): readonly string[] | undefined {
  try {
    return EventsAcknowledged.decode(message.data).eventIds;
  } catch {
    return undefined;
  }
}

/**
 * Messages that no consumer waits for do not count: a restarted replica may keep ones acknowledged
 * long ago.
 */
export function streamStateOf(
  { messages, first_ts, consumer_count }: Pick<StreamInfo['state'], 'messages' | 'first_ts' | 'consumer_count'>,
  consumers: readonly Pick<ConsumerInfo, 'num_pending' | 'num_ack_pending'>[],
): StreamState {
  const isConsumed = consumer_count > 0;
  const isWaitedFor = consumers.some(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending > 0);
  return { oldestAt: messages === 0 || (isConsumed && !isWaitedFor) ? null : new Date(first_ts), isConsumed };
}

function codeOf(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}
