import { Events } from '@laurel/proto/events';
import { NATS_USERS, type NatsUser } from '@laurel/topology';
import { type ConnectionOptions, connect, type NatsConnection } from 'nats';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inboxPrefixOf, parseNatsUrl } from './connection.ts';
import { createTestLogger, eventually, natsUrl, newEvent, newPrefix, urlForUser } from './events.fixture.ts';
import { connectEvents, subjectOf } from './stream.ts';

let opened: AsyncDisposableStack;
let prefix: string;
let stream: string;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  prefix = newPrefix();
  stream = prefix.toUpperCase();
  const { streams, consumers } = await (await login('operator')).jetstreamManager({ checkAPI: false });
  await streams.add({ name: stream, subjects: [`${prefix}.test.>`, `${prefix}.live.>`] });
  await consumers.add(stream, { durable_name: 'webhook', ack_policy: 'explicit' as never });
});
afterEach(async () => {
  const { streams } = await (await login('operator')).jetstreamManager({ checkAPI: false });
  await streams.delete(stream);
  await opened.disposeAsync();
});

async function login(user: string, options: ConnectionOptions = {}): Promise<NatsConnection> {
  const { servers, password } = parseNatsUrl(natsUrl());
  const nats = await connect({
    servers,
    user,
    pass: password ?? '',
    inboxPrefix: inboxPrefixOf(user),
    reconnect: false,
    timeout: 2_000,
    ...options,
  });
  opened.defer(() => nats.close());
  return nats;
}

/**
 * Whether the server accepts this user's message on the subject; it reports each one that it
 * refuses.
 */
async function mayPublish(user: string, subject: string): Promise<boolean> {
  const nats = await login(user);
  return await withoutViolation(nats, () => nats.publish(subject, new Uint8Array()));
}

async function maySubscribe(user: string, subject: string): Promise<boolean> {
  const nats = await login(user);
  return await withoutViolation(nats, () => nats.subscribe(subject, { callback: () => undefined }));
}

/** The server answers a ping after it has reported violations of earlier messages. */
async function withoutViolation(nats: NatsConnection, act: () => void): Promise<boolean> {
  const statuses: string[] = [];
  void (async () => {
    for await (const { data } of nats.status()) statuses.push(String(data));
  })();
  act();
  await nats.flush();
  // The listener above gets the reports that arrived earlier in this turn of the event loop.
  await new Promise((resolve) => void setImmediate(resolve));
  return !statuses.some((text) => /permissions/i.test(text));
}

const ALL: readonly string[] = [...NATS_USERS, 'operator'];

describe('publish permissions of the NATS users', () => {
  test.each<[string, (names: { prefix: string; stream: string }) => string, readonly string[]]>([
    ['an event of the challenge service', ({ prefix }) => `${prefix}.live.challenge.attempt.settled`, ['challenge']],
    ['an event of the tournament service', ({ prefix }) => `${prefix}.test.tournament.round.settled`, ['tournament']],
    ['an event without an owner in its subject', ({ prefix }) => `${prefix}.live.attempt.settled`, []],
    ['an acknowledgement to an owner', ({ prefix }) => `${prefix}.acknowledged.challenge`, ['webhook']],
    ['a look at the stream', ({ stream }) => `$JS.API.STREAM.INFO.${stream}`, NATS_USERS],
    ['a look at its consumers', ({ stream }) => `$JS.API.CONSUMER.LIST.${stream}`, NATS_USERS],
    ['a request for messages', ({ stream }) => `$JS.API.CONSUMER.MSG.NEXT.${stream}.webhook`, ['webhook']],
    ['an acknowledgement to the stream', ({ stream }) => `$JS.ACK.${stream}.webhook.1.1.1.1.1`, ['webhook']],
    ['a new consumer', ({ stream }) => `$JS.API.CONSUMER.CREATE.${stream}`, []],
    ['a new consumer of another name', ({ stream }) => `$JS.API.CONSUMER.CREATE.${stream}.other`, []],
    ['a durable consumer of another name', ({ stream }) => `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.other`, []],
    ['an end of the consumer', ({ stream }) => `$JS.API.CONSUMER.DELETE.${stream}.webhook`, []],
    ['an end of the stream', ({ stream }) => `$JS.API.STREAM.DELETE.${stream}`, []],
    ['a purge of the stream', ({ stream }) => `$JS.API.STREAM.PURGE.${stream}`, []],
    ['a look at one message', ({ stream }) => `$JS.API.STREAM.MSG.GET.${stream}`, []],
    ['a deletion of one message', ({ stream }) => `$JS.API.STREAM.MSG.DELETE.${stream}`, []],
    ['another stream', () => '$JS.API.STREAM.CREATE.OTHER.x', []],
    ['something else', () => 'anything', []],
  ])('only the permitted users may publish %s', async (_, subject, users) => {
    for (const user of NATS_USERS) {
      const may = await mayPublish(user, subject({ prefix, stream }));
      expect({ user, may }).toEqual({ user, may: users.includes(user) });
    }
  });
});

describe('subscribe permissions of the NATS users', () => {
  test.each<[string, (prefix: string) => string, readonly string[]]>([
    ['to acknowledgements to the challenge service', (of) => `${of}.acknowledged.challenge`, ['challenge']],
    ['to acknowledgements to the tournament service', (of) => `${of}.acknowledged.tournament`, ['tournament']],
    ['to events', (of) => `${of}.live.challenge.>`, []],
    ['to everything', () => '>', []],
    ['to the answers of others', () => '_INBOX.>', []],
    ...ALL.map((user): [string, (prefix: string) => string, readonly string[]] => [
      `to the answers of ${user}`,
      () => `_INBOX_${user}.>`,
      [user],
    ]),
    ['to JetStream', () => '$JS.API.>', []],
  ])('only the permitted users may subscribe %s', async (_, subject, users) => {
    for (const user of NATS_USERS) {
      const may = await maySubscribe(user, subject(prefix));
      expect({ user, may }).toEqual({ user, may: users.includes(user) });
    }
  });
});

test('a request without permission fails', async () => {
  for (const user of NATS_USERS) {
    const { streams } = await (await login(user)).jetstreamManager({ checkAPI: false, timeout: 500 });
    for (const act of [streams.delete(stream), streams.purge(stream), streams.getMessage(stream, { seq: 1 })])
      await expect(act).rejects.toThrow();
  }
  const { streams } = await (await login('operator')).jetstreamManager({ checkAPI: false });
  expect((await streams.info(stream)).config.name).toBe(stream);
});

test('NATS refuses a connection without a user, with a wrong password or of an unknown user', async () => {
  const { servers, password = '' } = parseNatsUrl(natsUrl());
  for (const credentials of [{}, { user: 'challenge', pass: 'wrong' }, { user: 'gateway', pass: password }])
    await expect(connect({ servers, ...credentials, reconnect: false })).rejects.toThrow(/authorization/i);
});

test('NATS rejects a service’s publication of another service’s event', async () => {
  const owner = (user: NatsUser) => {
    const { logger } = createTestLogger();
    return opened.use(connectEvents({ url: urlForUser(user, natsUrl()), prefix, name: user, logger }));
  };
  const [challenge, tournament] = [owner('challenge'), owner('tournament')];
  const event = newEvent();
  for (const { connection } of [challenge, tournament])
    await eventually('it is connected', () => connection.current !== undefined);
  expect(await tournament.publish([event])).toMatchObject({ stored: 0 });
  expect(await challenge.publish([event])).toEqual({ stored: 1, error: undefined });
  const { streams } = await (await login('operator')).jetstreamManager({ checkAPI: false });
  const { subject, data } = await streams.getMessage(stream, { seq: 1 });
  expect(subject).toBe(subjectOf(prefix, event));
  expect(Events.decode(data).events.map(({ id }) => id)).toEqual([event.id]);
});
