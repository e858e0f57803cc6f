/**
 * The stream that carries the events of one stack. It is named after the prefix and holds `<prefix>.test.>` and `<prefix>.live.>`, on
 * disk, for as long as a consumer has not taken them. It is nobody's truth: what is not taken yet also stands in its owner's outbox, so
 * that a stream that was purged, deleted or lost with its disk is filled again from there.
 *
 * Consumers make it, owners do not: without a consumer it would forget what it is given. And two that make it at the same moment can
 * break it: nats-server 2.9 then has two of that name, one that stores and one that delivers (seen once in a hundred on a busy machine).
 *
 * Beside the stream, `<prefix>.taken.<owner>` carries what a consumer tells the owner, and is not kept.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AttemptOwner } from '@laurel/ids';
import { Environment } from '@laurel/proto/common';
import { type Event, Events, EventsTaken } from '@laurel/proto/events';
import type { Logger } from '@laurel/service';
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
import { eventTypeOf } from './event-type.ts';
import { createPublisher, type Publisher } from './publisher.ts';

export interface EventStream extends AsyncDisposable {
  readonly prefix: string;
  /** As JetStream knows it. */
  readonly name: string;
  readonly connection: Connection;
  /** Makes the stream unless it is there; for consumers. Rejects when JetStream is out of reach. */
  ensure(): Promise<void>;
  /** In few messages, because the stream and its consumers work by the message. Never rejects. */
  publish(events: readonly Event[]): Promise<Publication>;
  /** What the stream holds; undefined when it cannot be asked. */
  look(): Promise<StreamState | undefined>;
  /** Tells the owner that its events were taken. It is said once, and may be lost. */
  tellTaken(owner: AttemptOwner, eventIds: readonly string[]): void;
  /** One process of the owner hears each `tellTaken`. */
  onTaken(owner: AttemptOwner, listener: (eventIds: readonly string[]) => void): Disposable;
}

/** How many events are in the stream for certain, and why others are not; that there is no stream yet is no fault. */
export interface Publication {
  readonly stored: number;
  readonly fault: string | undefined;
}

export interface StreamState {
  /** Null when it is empty, or holds nothing that a consumer still waits for. */
  readonly oldestAt: Date | null;
  /** Whether anybody takes from it. While nobody does, it forgets what it is given. */
  readonly isConsumed: boolean;
}

/** What a prefix may look like: it becomes a part of subjects and, in upper case, the name of the stream. */
export const EVENTS_PREFIX = /^[a-z][a-z0-9_-]{0,31}$/;
export const EVENTS_PREFIX_RULE = 'must be a letter and up to 31 of a-z, 0-9, - and _';

const API_TIMEOUT_MS = 1_000;
const SPREAD_MS = 300;
/** Far from what a server takes as one message, whatever the events are. */
const MAX_EVENTS_OF_MESSAGE = 50;
/** What nobody takes for so long stays in its outbox all the same. */
const MAX_AGE_MS = 3 * 24 * 3_600_000;

/** JetStream's `stream not found`. */
const STREAM_NOT_FOUND = 10_059;

const SUBJECT_OF_ENVIRONMENT: Partial<Record<Environment, string>> = {
  [Environment.TEST]: 'test',
  [Environment.LIVE]: 'live',
};

/** Returns at once; the connection is made behind, and again whenever it breaks. */
export function connectEvents(options: {
  /** `nats://host:port`, several separated by commas. */
  url: string;
  /** Stacks with different prefixes share a broker and never meet. */
  prefix?: string;
  /** How many servers of a cluster keep the stream: 1, 3 or 5, and no more than it has. All processes of a stack say the same. */
  replicas?: number;
  /** Shown in the broker's list of connections. */
  name: string;
  logger: Logger;
}): EventStream {
  const { url, prefix = 'laurel', replicas = 1, name, logger } = options;
  if (!EVENTS_PREFIX.test(prefix)) throw new RangeError(`the prefix of events ${EVENTS_PREFIX_RULE}`);
  const streamName = prefix.toUpperCase();
  const connection = connectNats({ url, name, logger });
  const publishers = new WeakMap<NatsConnection, Publisher>();
  let ensuring: Promise<void> | undefined;

  /** However many miss it in this process, it is made once. */
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
      if (answers === undefined) return { stored: 0, fault: 'NATS is out of reach' };
      const stored = bundles.filter((_, index) => answers[index]?.kind === 'stored');
      const failed = answers.find((answer) => answer.kind === 'failed');
      return { stored: stored.reduce((sum, bundle) => sum + bundle.events.length, 0), fault: failed?.fault };
    },
    look: async () => {
      if (connection.current === undefined) return undefined;
      try {
        const { streams, consumers } = await manager(connection);
        const { state } = await streams.info(streamName);
        return stateOf(state, state.messages === 0 ? [] : await consumers.list(streamName).next());
      } catch {
        return undefined;
      }
    },
    tellTaken: (owner, eventIds) => {
      connection.current?.publish(`${prefix}.taken.${owner}`, EventsTaken.encode({ eventIds: [...eventIds] }).finish());
    },
    onTaken: (owner, listener) => {
      let unsubscribe = () => {};
      const up = connection.onUp((nats) => {
        const subscription = nats.subscribe(`${prefix}.taken.${owner}`, {
          queue: owner,
          callback: (_error, message) => {
            const eventIds = readTaken(message);
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

/** `<prefix>.<environment>.<event type>`. */
export function subjectOf(prefix: string, event: Event): string {
  const environment = SUBJECT_OF_ENVIRONMENT[event.tenant?.environment ?? Environment.UNSPECIFIED];
  if (environment === undefined) throw new TypeError(`the event ${event.id} has no environment`);
  return `${prefix}.${environment}.${eventTypeOf(event)}`;
}

interface Bundle {
  readonly subject: string;
  readonly events: readonly Event[];
}

/** Events of one subject to a message, in their order. */
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

/** JetStream's own interface on the present connection; rejects when there is none. */
export async function manager(connection: Connection): Promise<JetStreamManager> {
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

/** Undefined where JetStream says with this code that there is no such thing. */
export async function found<Thing>(asked: Promise<Thing>, notFound: number): Promise<Thing | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === notFound) return undefined;
    throw error;
  }
}

/** Whether what is wanted is so already. */
export function isSubset<Config extends object>(wanted: Partial<Config>, present: Config): boolean {
  return Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(present[key as keyof Config], value));
}

async function ensureStream(connection: Connection, config: ReturnType<typeof streamConfig>): Promise<void> {
  const { streams } = await manager(connection);
  const find = () => found(streams.info(config.name), STREAM_NOT_FOUND);
  let present = await find();
  if (present === undefined) {
    // Replicas that miss it at the same moment must not make it at the same moment: the next one finds it.
    await sleep(Math.random() * SPREAD_MS);
    present = await find();
  }
  if (present === undefined) await streams.add(config);
  // Made by an older release of ours: what can be changed is changed.
  else if (!isSubset<StreamConfig>(config, present.config)) await streams.update(config.name, config);
}

/** Undefined for what cannot be read. A callback that throws would end all reading of its connection, so none may. */
function readTaken(message: Msg): readonly string[] | undefined {
  try {
    return EventsTaken.decode(message.data).eventIds;
  } catch {
    return undefined;
  }
}

/** A replica that was restarted may keep messages that were acknowledged long ago: what no consumer waits for is not there any more. */
export function stateOf(
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
