/** Endpoints that developers register, change and delete. */
import { createEncryption } from '@laurel/encryption';
import { refused } from '@laurel/errors';
import { excerptOf } from '@laurel/json';
import { Environment } from '@laurel/proto/common';
import { type Event, Owner } from '@laurel/proto/events';
import type { UpdateEndpointRequest } from '@laurel/proto/webhook';
import { constraintAccepts, expectAccepted, isExactBound } from '@laurel/testing';
import { MAX_URL_CHARACTERS } from '@laurel/untrusted-url';
import { newId } from '@laurel/values/ids';
import { MAX_ENDPOINT_DESCRIPTION_CHARACTERS } from '@laurel/values/limits';
import { describe, expect, it } from 'vitest';
import { MAX_ENDPOINTS } from '../domain/endpoint.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import { insertDelivery } from '../repository/deliveries.ts';
import { SECRET_KEYS, URL_OF_NOBODY, useHarness } from '../webhook.fixture.ts';

const h = useHarness();

const SECRET = /^whsec_[0-9a-f]{64}$/;
const NOT_FOUND = refused('not_found');

function update(developerId: string, endpointId: string, change: Partial<UpdateEndpointRequest>) {
  return h.webhook.updateEndpoint({ developerId, endpointId, ...change });
}

async function listed(developerId: string) {
  return expectAccepted(await h.webhook.listEndpoints({ developerId })).endpoints;
}

async function storedSecret(endpointId: string): Promise<Buffer> {
  const statement = { text: 'select secret from endpoints where id = $1' };
  const [row] = await h.database.query<{ secret: Buffer }>(statement, [endpointId]);
  if (row === undefined) throw new Error('no such endpoint');
  return row.secret;
}

function openSecret(sealed: Buffer, endpointId: string): string {
  return createEncryption(SECRET_KEYS).decrypt(sealed, secretOwner(endpointId));
}

function cancelledRound(programId: string): Event {
  return {
    id: newId(),
    occurredAt: h.clock(),
    tenant: { programId, environment: Environment.LIVE },
    owner: Owner.TOURNAMENT,
    payload: { $case: 'roundCancelled', value: { tournamentRoundId: newId(), tournamentId: newId() } },
  };
}

describe('an endpoint', () => {
  it('a registered endpoint reads back with every requested field', async () => {
    const developerId = newId();
    const programId = newId();
    const { endpoint, secret } = await h.createEndpoint({
      developerId,
      programIds: [programId, newId()],
      programId,
      events: ['attempt.settled', 'round.settled', 'attempt.settled'],
      environment: Environment.TEST,
      description: 'Höhle der 選手 🏆\n"<b>',
    });
    expect(endpoint).toEqual({
      id: expect.any(String),
      url: URL_OF_NOBODY,
      events: ['attempt.settled', 'round.settled'],
      programId,
      environment: Environment.TEST,
      description: 'Höhle der 選手 🏆\n"<b>',
      active: true,
      createdAt: h.clock(),
    });
    expect(secret).toMatch(SECRET);
    expect(await h.webhook.getEndpoint({ developerId, endpointId: endpoint.id })).toEqual({ endpoint });
    expect(await listed(developerId)).toEqual([endpoint]);
  });

  it('an endpoint with only a URL receives every event of all programs in both environments', async () => {
    const { endpoint } = await h.createEndpoint();
    expect(endpoint).toEqual({
      id: endpoint.id,
      url: URL_OF_NOBODY,
      events: [],
      programId: undefined,
      environment: Environment.UNSPECIFIED,
      description: '',
      active: true,
      createdAt: h.clock(),
    });
  });

  it.each([
    'https://127.0.0.1:1025',
    'https://127.0.0.1:1025/a?b=c%20d',
    'https://127.0.0.1:1025/ä',
    'https://127.0.0.1/',
    'https://127.0.0.1:443/',
    'https://127.0.0.1:1024/',
    'https://127.0.0.1:65535/a/../b?c=%2F&d=é',
    'https://8.8.8.8/hooks',
    'https://[2606:4700:4700::1111]:8443/hooks?a=1',
    `https://8.8.8.8/${'a'.repeat(2_048 - 'https://8.8.8.8/'.length)}`,
  ])('an endpoint keeps its URL unchanged: %s', async (url) => {
    const { endpoint } = await h.createEndpoint({ url });
    expect(endpoint.url).toBe(url);
    const { developerId, endpoint: other } = await h.createEndpoint();
    expect(await update(developerId, other.id, { url })).toEqual({ endpoint: { ...other, url } });
    expect(await h.webhook.getEndpoint({ developerId, endpointId: other.id })).toEqual({ endpoint: { ...other, url } });
  });

  it('a developer’s endpoints are listed oldest first', async () => {
    const { developerId, endpoint: first } = await h.createEndpoint();
    h.clock.advance(1);
    const { endpoint: second } = await h.createEndpoint({ developerId });
    await h.createEndpoint();
    expect(await listed(developerId)).toEqual([first, second]);
  });

  it('an endpoint is not_found for every other developer, in every call', async () => {
    const { endpoint, developerId } = await h.createEndpoint();
    const before = await storedSecret(endpoint.id);
    const theirs = { developerId: newId(), endpointId: endpoint.id };
    expect(await listed(theirs.developerId)).toEqual([]);
    expect(await h.webhook.getEndpoint(theirs)).toEqual(NOT_FOUND);
    expect(await h.webhook.updateEndpoint({ ...theirs, active: false })).toEqual(NOT_FOUND);
    expect(await h.webhook.updateEndpoint({ ...theirs, url: 'http://not.safe' })).toEqual(NOT_FOUND);
    expect(await h.webhook.deleteEndpoint(theirs)).toEqual(NOT_FOUND);
    expect(await h.webhook.rotateSecret(theirs)).toEqual(NOT_FOUND);
    expect(await listed(developerId)).toEqual([endpoint]);
    expect(await storedSecret(endpoint.id)).toEqual(before);
  });
});

describe('refused registrations of endpoints', () => {
  it.each([
    ['plain http', { url: 'http://example.com/hooks' }],
    ['no URL', { url: 'example.com' }],
    ['a scheme in capitals, which the database would not accept', { url: 'HTTPS://127.0.0.1:1025/' }],
    ['a scheme without slashes', { url: 'https:127.0.0.1:1025/' }],
    ['a user name in the URL', { url: 'https://me:you@127.0.0.1:1025/' }],
    ['the port of another protocol', { url: 'https://127.0.0.1:25/' }],
    ['a private address', { url: 'https://10.0.0.1/hooks' }],
    ['the metadata service', { url: 'https://169.254.169.254/latest' }],
    ['a private IPv4 address written as IPv6', { url: 'https://[::ffff:10.0.0.1]/' }],
    ['an event that does not exist', { events: ['attempt.created'] }],
    ['a long description', { description: 'x'.repeat(1_001) }],
    ['a program that is not the developer’s', { programId: newId() }],
  ])('a registration with %s is refused', async (_why, wrong) => {
    const developerId = newId();
    const request = {
      developerId,
      programIds: [newId()],
      url: URL_OF_NOBODY,
      events: [],
      environment: Environment.UNSPECIFIED,
      description: '',
      ...wrong,
    };
    expect(await h.webhook.createEndpoint(request)).toEqual({
      kind: 'refused',
      code: 'invalid_request',
      message: expect.stringMatching(/^.+\.$/),
    });
    expect(await listed(developerId)).toEqual([]);
  });

  it('a registration for another developer’s program is refused, even if the caller lists that program', async () => {
    const programId = newId();
    expectAccepted(await h.webhook.putProgram({ programId, developerId: newId(), version: 0n }));
    await expect(h.createEndpoint({ programIds: [programId], programId })).rejects.toThrow('invalid_request');
  });

  it('a registration of the 21st endpoint is refused until another one is deleted', async () => {
    const { developerId, endpoint } = await h.createEndpoint();
    for (let count = 1; count < MAX_ENDPOINTS; count += 1) await h.createEndpoint({ developerId });
    await expect(h.createEndpoint({ developerId })).rejects.toThrow('conflict');
    // An endpoint that is off counts.
    expectAccepted(await update(developerId, endpoint.id, { active: false }));
    await expect(h.createEndpoint({ developerId })).rejects.toThrow('conflict');
    // Another developer's endpoint does not count.
    await h.createEndpoint();
    expectAccepted(await h.webhook.deleteEndpoint({ developerId, endpointId: endpoint.id }));
    await h.createEndpoint({ developerId });
    expect(await listed(developerId)).toHaveLength(MAX_ENDPOINTS);
  });

  it('40 concurrent registrations on two replicas create exactly 20 endpoints', async () => {
    await using replica = await h.startReplica();
    const request = {
      developerId: newId(),
      programIds: [newId(), newId()],
      url: URL_OF_NOBODY,
      events: [],
      environment: Environment.UNSPECIFIED,
      description: '',
    };
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? h : replica).webhook.createEndpoint(request)),
    );
    const secrets = answers.flatMap((answer) => ('signingSecret' in answer ? [answer.signingSecret] : []));
    expect(new Set(secrets).size).toBe(20);
    expect(answers.filter((answer) => 'kind' in answer)).toEqual(
      Array(20).fill(refused('conflict', 'A developer has at most 20 endpoints.')),
    );
    const [first, second, ...others] = await listed(request.developerId);
    expect(others).toHaveLength(18);
    for (const { id } of [first, second].flatMap((one) => one ?? []))
      expectAccepted(await h.webhook.deleteEndpoint({ developerId: request.developerId, endpointId: id }));
    const again = await Promise.all(
      Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? h : replica).webhook.createEndpoint(request)),
    );
    expect(again.filter((answer) => 'kind' in answer)).toHaveLength(4);
    expect(await listed(request.developerId)).toHaveLength(20);
  });
});

describe('programs', () => {
  it('an older or repeated registration of a program does not change its developer', async () => {
    const programId = newId();
    const [first, second] = [newId(), newId()];
    const developerAfter = async (developerId: string, version: bigint) => {
      expect(await h.webhook.putProgram({ programId, developerId, version })).toEqual({});
      const stored = { text: 'select developer_id from programs where id = $1' };
      return (await h.database.query<{ developer_id: string | null }>(stored, [programId]))[0]?.developer_id;
    };
    expect(await developerAfter(first, 0n)).toBe(first);
    expect(await developerAfter(second, 0n)).toBe(first);
    expect(await developerAfter(second, 7n)).toBe(second);
    for (const version of [0n, 6n, 7n]) expect(await developerAfter(first, version)).toBe(second);
    expect(await developerAfter('', 8n)).toBeNull();
    await h.createEndpoint({ developerId: second, programIds: [programId] });
    expect(await developerAfter(second, 7n)).toBeNull();
    expect(await developerAfter(first, 9n)).toBe(first);
  });

  it('the registration of an endpoint also registers the programs that it lists', async () => {
    const programIds = [newId(), newId()].sort();
    const { developerId } = await h.createEndpoint({ programIds });
    await h.createEndpoint({ developerId, programIds });
    const statement = { text: 'select id from programs where developer_id = $1 order by id' };
    expect(await h.database.query(statement, [developerId])).toEqual(programIds.map((id) => ({ id })));
  });
});

describe('a change of an endpoint', () => {
  it('an update of an endpoint applies the fields that are sent and keeps the rest', async () => {
    const { endpoint, developerId } = await h.createEndpoint({ events: ['attempt.settled'], description: 'ours' });
    const change = (sent: Partial<UpdateEndpointRequest>) => update(developerId, endpoint.id, sent);
    expect(await change({})).toEqual({ endpoint });
    const moved = { ...endpoint, url: 'https://127.0.0.1:1026/' };
    expect(await change({ url: moved.url })).toEqual({ endpoint: moved });
    const forAll = { ...moved, events: [] };
    expect(await change({ events: { events: [] } })).toEqual({ endpoint: forAll });
    const off = { ...forAll, description: '', active: false };
    expect(await change({ description: '', active: false })).toEqual({ endpoint: off });
    expect(await change({ active: true })).toEqual({ endpoint: { ...off, active: true } });
    expect(await listed(developerId)).toEqual([{ ...off, active: true }]);
  });

  it('an update of an endpoint with one invalid field changes nothing', async () => {
    const { endpoint, developerId } = await h.createEndpoint();
    for (const wrong of [
      { url: 'https://10.0.0.1/' },
      { url: '' },
      { events: { events: ['no.such'] } },
      { description: 'x'.repeat(1_001) },
    ])
      expect(await update(developerId, endpoint.id, { active: false, ...wrong })).toMatchObject({
        code: 'invalid_request',
      });
    expect(await listed(developerId)).toEqual([endpoint]);
  });
});

it('exactly one of several concurrent deletions of an endpoint takes effect, even during changes', async () => {
  await using replica = await h.startReplica();
  const { developerId, endpoint } = await h.createEndpoint();
  const own = { developerId, endpointId: endpoint.id };
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => {
      const { webhook } = index % 2 === 0 ? h : replica;
      const deletion = index % 4 === 2 ? [webhook.deleteEndpoint(own)] : [];
      return [
        webhook.updateEndpoint({ ...own, active: index % 2 === 0 }),
        webhook.rotateSecret(own),
        webhook.getEndpoint(own),
        ...deletion,
      ];
    }).flat(),
  );
  expect(answers.filter((answer) => Object.keys(answer).length === 0)).toHaveLength(1);
  for (const answer of answers) if ('kind' in answer) expect(answer).toEqual(NOT_FOUND);
  expect(await h.webhook.getEndpoint(own)).toEqual(NOT_FOUND);
});

describe('endpoints that are switched off or deleted', () => {
  async function withPending() {
    const owner = await h.createEndpoint();
    const delivery = {
      id: newId(),
      endpointId: owner.endpoint.id,
      eventId: newId(),
      eventType: 'round.cancelled',
      tenant: { programId: newId(), environment: 'test' as const },
      body: Buffer.from('{}'),
      resendOf: null,
      createdAt: h.clock(),
    };
    await insertDelivery(h.database, delivery);
    const tenant = { programId: delivery.tenant.programId, environment: Environment.TEST };
    return { ...owner, deliveryId: delivery.id, tenant };
  }

  async function statusOf(deliveryId: string) {
    const statement = { text: 'select status, next_attempt_at from deliveries where id = $1' };
    return (await h.database.query(statement, [deliveryId]))[0];
  }

  it('switching an endpoint off closes its pending deliveries with the reason in the log', async () => {
    const owner = await withPending();
    const createdAt = h.clock();
    h.clock.advance(1_000);
    expectAccepted(await update(owner.developerId, owner.endpoint.id, { active: false }));
    expect(await h.deliveriesOf(owner)).toMatchObject([
      {
        id: owner.deliveryId,
        event: 'round.cancelled',
        status: 3,
        createdAt,
        nextAttemptAt: undefined,
        attempts: [{ number: 1, startedAt: h.clock(), durationMs: undefined, errorKind: 'endpoint_off' }],
      },
    ]);
    const { tenant, deliveryId } = owner;
    expect(await h.webhook.retryDelivery({ tenant, deliveryId })).toMatchObject({ code: 'conflict' });
    expectAccepted(await update(owner.developerId, owner.endpoint.id, { active: true }));
    expect(await statusOf(deliveryId)).toEqual({ status: 'failed', next_attempt_at: null });
  });

  it('an endpoint that is being switched off keeps no pending delivery of concurrent events', async () => {
    await using replica = await h.startReplica();
    const programId = newId();
    const { developerId, endpoint } = await h.createEndpoint({ programIds: [programId] });
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([
        update(developerId, endpoint.id, { active: false }),
        ...[h, replica].map(({ server }) => server.consume([cancelledRound(programId), cancelledRound(programId)])),
      ]);
      await Promise.all([h.server.whenIdle(), replica.server.whenIdle()]);
      const statement = { text: `select id from deliveries where endpoint_id = $1 and status = 'pending'` };
      expect(await h.database.query(statement, [endpoint.id])).toEqual([]);
      expectAccepted(await update(developerId, endpoint.id, { active: true }));
    }
  });

  it('an update that leaves an endpoint on closes nothing', async () => {
    const owner = await withPending();
    expectAccepted(await update(owner.developerId, owner.endpoint.id, { active: true, description: 'still on' }));
    expect(await statusOf(owner.deliveryId)).toMatchObject({ status: 'pending' });
  });

  it('a developer finds neither a deleted endpoint nor its log', async () => {
    const { developerId, endpoint, deliveryId, tenant } = await withPending();
    const endpointId = endpoint.id;
    expect(await h.webhook.deleteEndpoint({ developerId, endpointId })).toEqual({});
    expect(await statusOf(deliveryId)).toEqual({ status: 'failed', next_attempt_at: null });
    expect(await listed(developerId)).toEqual([]);
    const page = { status: 0, event: '', limit: 10, cursor: '', after: '' } as const;
    for (const answer of [
      await h.webhook.getEndpoint({ developerId, endpointId }),
      await h.webhook.updateEndpoint({ developerId, endpointId, active: true }),
      await h.webhook.deleteEndpoint({ developerId, endpointId }),
      await h.webhook.rotateSecret({ developerId, endpointId }),
      await h.webhook.sendTest({ developerId, endpointId }),
      await h.webhook.listDeliveries({ developerId, endpointId, ...page }),
      await h.webhook.resendDelivery({ developerId, deliveryId }),
      await h.webhook.retryDelivery({ tenant, deliveryId }),
    ])
      expect(answer).toEqual(NOT_FOUND);
  });
});

describe('signing secrets', () => {
  it('signing secrets are stored encrypted, each bound to its own endpoint', async () => {
    const one = await h.createEndpoint();
    const other = await h.createEndpoint();
    const sealed = await storedSecret(one.endpoint.id);
    expect(openSecret(sealed, one.endpoint.id)).toBe(one.secret);
    expect(() => openSecret(sealed, other.endpoint.id)).toThrow();
  });

  it('a rotation replaces the signing secret immediately and shows the new one', async () => {
    const { developerId, endpoint, secret } = await h.createEndpoint();
    const rotated = expectAccepted(await h.webhook.rotateSecret({ developerId, endpointId: endpoint.id }));
    expect(rotated).toEqual({ endpoint, signingSecret: expect.stringMatching(SECRET) });
    expect(rotated.signingSecret).not.toBe(secret);
    expect(openSecret(await storedSecret(endpoint.id), endpoint.id)).toBe(rotated.signingSecret);
  });

  it('a signing secret is never stored or logged in plain text', async () => {
    const { developerId, endpoint, secret } = await h.createEndpoint();
    const { signingSecret } = expectAccepted(await h.webhook.rotateSecret({ developerId, endpointId: endpoint.id }));
    expectAccepted(await h.webhook.sendTest({ developerId, endpointId: endpoint.id }));
    await h.server.whenIdle();
    for (const shown of [secret, signingSecret]) {
      const key = shown.slice('whsec_'.length);
      // As text and as bytes, which the database shows as hex. `key` also matches the bytes that
      // its hex digits encode.
      const forms = [key, Buffer.from(key).toString('hex'), Buffer.from(shown).toString('hex')];
      for (const table of ['endpoints', 'programs', 'deliveries', 'delivery_attempts', 'consumed_events'])
        for (const form of forms) {
          const statement = { text: `select count(*)::int as rows from ${table} t where t::text ilike $1` };
          expect(await h.database.query(statement, [`%${form}%`])).toEqual([{ rows: 0 }]);
        }
      for (const form of forms) expect(h.logLines.join('')).not.toContain(form);
    }
  });
});

it.each([
  ['endpoints_url_is_https', MAX_URL_CHARACTERS, (length: number) => ({ url: `https://${'a'.repeat(length - 8)}` })],
  [
    'endpoints_description_length',
    MAX_ENDPOINT_DESCRIPTION_CHARACTERS,
    (length: number) => ({ description: '🎯'.repeat(length) }),
  ],
])('the database’s %s equals the bound of the rule', async (constraint, most, valuesOf) => {
  expect(await isExactBound(h.database, { constraint, most }, valuesOf)).toBe(true);
});

it('the database accepts the excerpt of any response', async () => {
  for (const body of ['🎯'.repeat(2_000), 'é\0'.repeat(3_000), '\ud83d'.repeat(3_000)]) {
    const excerpt = { response_excerpt: excerptOf(Buffer.from(body)) };
    expect(await constraintAccepts(h.database, 'delivery_attempts_excerpt_length', excerpt)).toBe(true);
  }
});
