/** How partners create and change integrations, and rotate their secrets. */
import { createEncryption } from '@laurel/encryption';
import { refused } from '@laurel/errors';
import { excerptOf } from '@laurel/json';
import { Environment, type Tenant } from '@laurel/proto/common';
import {
  type CreateIntegrationRequest,
  IntegrationStatus,
  Transport,
  type UpdateIntegrationRequest,
} from '@laurel/proto/integration';
import { constraintAccepts, expectAccepted, isExactBound } from '@laurel/testing';
import { MAX_URL_CHARACTERS } from '@laurel/untrusted-url';
import { newId } from '@laurel/values/ids';
import { MAX_DESCRIPTOR_BYTES, MAX_POLL_INTERVAL_SECONDS, MIN_POLL_INTERVAL_SECONDS } from '@laurel/values/limits';
import { MAX_PLAYER_REF_CHARACTERS } from '@laurel/values/tenant';
import { describe, expect, it } from 'vitest';
import { MAX_INTEGRATIONS } from '../domain/integration.ts';
import { pullSecretOwner } from '../domain/pull-secret.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import { SECRET_KEYS, useHarness } from '../integration.fixture.ts';

const h = useHarness();

const SECRET = /^[0-9a-f]{64}$/;
const NOT_FOUND = refused('not_found');
const { ACTIVE, DRAFT, SUSPENDED } = IntegrationStatus;
const { PUSH_WEBHOOK, PULL_POLL, SDK_DIRECT } = Transport;
/** A URL that the tests' configuration allows; nothing listens on its port. */
const URL_OF_NOBODY = 'https://127.0.0.1:1025/results';
const PULL_SECRET = 'a-token-of-the-partner';

const NO_POINTER = '{"version":1,"map":{"attempt":{"attempt_id":"/a"},"score":"no pointer"}}';

type Stored = { signing: string | null; previous: string | null; pull: string | null };

function pullDescriptor(pull: Record<string, unknown> = {}): string {
  return JSON.stringify({ version: 1, pull: { url: URL_OF_NOBODY, ...pull } });
}

function update(tenant: Tenant, integrationId: string, change: Partial<UpdateIntegrationRequest>) {
  return h.integrations.updateIntegration({
    tenant,
    integrationId,
    status: IntegrationStatus.UNSPECIFIED,
    ...change,
  });
}

async function listed(tenant: Tenant) {
  return expectAccepted(await h.integrations.listIntegrations({ tenant })).integrations;
}

/** Returns the integration's secrets, decrypted under its own name. */
async function storedSecrets(id: string): Promise<Stored> {
  const text = 'select signing_secret, previous_signing_secret, pull_secret from integrations where id = $1';
  type Row = Record<'signing_secret' | 'previous_signing_secret' | 'pull_secret', Buffer | null>;
  const [row] = await h.database.query<Row>({ text }, [id]);
  if (row === undefined) throw new Error('no such integration');
  const open = (sealed: Buffer | null, owner: string) =>
    sealed === null ? null : createEncryption(SECRET_KEYS).decrypt(sealed, owner);
  return {
    signing: open(row.signing_secret, secretOwner(id)),
    previous: open(row.previous_signing_secret, secretOwner(id)),
    pull: open(row.pull_secret, pullSecretOwner(id)),
  };
}

function createPoll(request: Partial<CreateIntegrationRequest> = {}) {
  return h.createIntegration({ transport: PULL_POLL, descriptorJson: pullDescriptor(), ...request });
}

describe('a new integration', () => {
  it('a push_webhook is created as a draft, with a signing secret that only this response shows', async () => {
    const { integration, tenant, secret } = await h.createIntegration();
    expect(secret).toMatch(SECRET);
    expect(integration).toEqual({
      id: expect.any(String),
      transport: PUSH_WEBHOOK,
      status: DRAFT,
      descriptorJson: '{}',
      hasSigningSecret: true,
      pullIntervalSeconds: undefined,
      lastPolledAt: undefined,
      nextPollAt: undefined,
      consecutiveFailures: 0,
      lastPollError: undefined,
      createdAt: h.clock(),
    });
    expect(await listed(tenant)).toEqual([integration]);
    expect(await storedSecrets(integration.id)).toEqual({ signing: secret, previous: null, pull: null });
  });

  it('a new pull_poll has no signing secret and is polled every minute by default', async () => {
    const { integration, secret } = await createPoll();
    expect(secret).toBe('');
    expect(integration).toMatchObject({ hasSigningSecret: false, pullIntervalSeconds: 60, nextPollAt: undefined });
    expect((await createPoll({ pullIntervalSeconds: 30 })).integration.pullIntervalSeconds).toBe(30);
  });

  it('an sdk_direct has neither a secret nor an interval', async () => {
    const { integration, secret } = await h.createIntegration({ transport: SDK_DIRECT });
    expect(secret).toBe('');
    expect(integration).toMatchObject({ hasSigningSecret: false, pullIntervalSeconds: undefined });
  });

  it.each([
    ['an interval for a push', { pullIntervalSeconds: 60 }],
    ['an interval for an sdk_direct', { transport: SDK_DIRECT, pullIntervalSeconds: 60 }],
    ['an interval under 30 seconds', { transport: PULL_POLL, pullIntervalSeconds: 29 }],
    ['a descriptor that is not JSON', { descriptorJson: '{' }],
    ['a descriptor that is an array', { descriptorJson: '[]' }],
    ['a descriptor with a score that is not a pointer', { descriptorJson: NO_POINTER }],
    ['a descriptor with an unknown member', { descriptorJson: '{"version":1,"mapping":{}}' }],
    ['a pull for a push', { descriptorJson: pullDescriptor() }],
    [
      'a poll of a private address',
      { transport: PULL_POLL, descriptorJson: pullDescriptor({ url: 'https://10.0.0.1/' }) },
    ],
    [
      'a poll of a metadata service',
      { transport: PULL_POLL, descriptorJson: pullDescriptor({ url: 'https://169.254.169.254/latest' }) },
    ],
    [
      'a poll of another scheme',
      { transport: PULL_POLL, descriptorJson: pullDescriptor({ url: 'ftp://example.com/' }) },
    ],
    [
      'a poll of plain http',
      { transport: PULL_POLL, descriptorJson: pullDescriptor({ url: 'http://127.0.0.1:1025/' }) },
    ],
    [
      'a URL longer than 2,048 characters with its query',
      {
        transport: PULL_POLL,
        descriptorJson: pullDescriptor({ query: { a: 'v'.repeat(1_000), b: 'v'.repeat(1_000), c: 'v'.repeat(40) } }),
      },
    ],
    [
      'authentication without its secret',
      { transport: PULL_POLL, descriptorJson: pullDescriptor({ auth: { type: 'bearer' } }) },
    ],
  ])('a creation with %s is refused', async (_why, wrong) => {
    const tenant = await h.newTenant();
    const request = { tenant, transport: PUSH_WEBHOOK, descriptorJson: '{}', ...wrong };
    expect(await h.integrations.createIntegration(request)).toEqual({
      kind: 'refused',
      code: 'invalid_request',
      message: expect.stringMatching(/^.+\.$/),
    });
    expect(await listed(tenant)).toEqual([]);
  });

  it('the list shows a tenant’s integrations, newest first', async () => {
    const tenant = await h.newTenant();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await h.createIntegration({ tenant })).integration.id);
      h.clock.advance(1);
    }
    expect((await listed(tenant)).map(({ id }) => id)).toEqual(ids);
  });

  it('120 concurrent creations on two replicas create exactly 100 integrations', async () => {
    await using replica = await h.startReplica();
    const tenant = await h.newTenant();
    const request = { tenant, transport: SDK_DIRECT, descriptorJson: '{}' };
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        (index % 2 === 0 ? h : replica).integrations.createIntegration(request),
      ),
    );
    expect(answers.filter((answer) => 'kind' in answer)).toEqual(
      Array(20).fill(refused('conflict', 'A program has at most 100 integrations in an environment.')),
    );
    expect(await listed(tenant)).toHaveLength(MAX_INTEGRATIONS);
    const sandbox = { ...tenant, environment: Environment.TEST };
    expect(
      expectAccepted(await h.integrations.createIntegration({ ...request, tenant: sandbox })).integration,
    ).toBeDefined();
  });
});

describe('the owner of an integration', () => {
  it('an integration of another program or environment is not found and cannot be changed', async () => {
    const { integration, tenant } = await h.createIntegration();
    const before = await storedSecrets(integration.id);
    const other = await h.newTenant();
    for (const theirs of [other, { ...tenant, environment: Environment.TEST }]) {
      const own = { tenant: theirs, integrationId: integration.id };
      expect(await listed(theirs)).toEqual([]);
      expect(await update(theirs, integration.id, { status: ACTIVE })).toEqual(NOT_FOUND);
      expect(await update(theirs, integration.id, { descriptorJson: '{' })).toEqual(NOT_FOUND);
      expect(await h.integrations.rotateSecret(own)).toEqual(NOT_FOUND);
      expect(await h.integrations.retirePreviousSecret(own)).toEqual(NOT_FOUND);
    }
    expect(await listed(tenant)).toEqual([integration]);
    expect(await storedSecrets(integration.id)).toEqual(before);
  });
});

describe('a change of an integration', () => {
  it('an update applies the fields that are sent and keeps the rest', async () => {
    const { integration, tenant } = await createPoll();
    const { id } = integration;
    expect(await update(tenant, id, {})).toEqual({ integration });
    const slower = { ...integration, pullIntervalSeconds: 300 };
    expect(await update(tenant, id, { pullIntervalSeconds: 300 })).toEqual({ integration: slower });
    const descriptorJson = pullDescriptor({ query: { season: '2' } });
    const changed = { ...slower, descriptorJson };
    expect(await update(tenant, id, { descriptorJson })).toEqual({ integration: changed });
    const active = { ...changed, status: ACTIVE, nextPollAt: h.clock() };
    expect(await update(tenant, id, { status: ACTIVE })).toEqual({ integration: active });
    const suspended = { ...active, status: SUSPENDED, nextPollAt: undefined };
    expect(await update(tenant, id, { status: SUSPENDED })).toEqual({ integration: suspended });
    expect(await listed(tenant)).toEqual([suspended]);
  });

  it('an update with one invalid field changes nothing', async () => {
    const { integration, tenant } = await createPoll();
    for (const wrong of [
      { pullIntervalSeconds: 29 },
      { descriptorJson: '{"version":2}' },
      { descriptorJson: pullDescriptor({ url: 'https://169.254.169.254/' }) },
      { descriptorJson: '{}' },
    ])
      expect(await update(tenant, integration.id, { status: ACTIVE, ...wrong })).toMatchObject({
        code: 'invalid_request',
      });
    expect(await listed(tenant)).toEqual([integration]);
  });

  it('after concurrent changes of its status an integration has a due poll exactly if it is active', async () => {
    await using replica = await h.startReplica();
    const { integration, tenant } = await createPoll();
    const integrationId = integration.id;
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(
        [ACTIVE, SUSPENDED, ACTIVE, DRAFT].map((status, index) =>
          (index % 2 === 0 ? h : replica).integrations.updateIntegration({ tenant, integrationId, status }),
        ),
      );
      const [now] = await listed(tenant);
      expect(now?.nextPollAt !== undefined).toBe(now?.status === ACTIVE);
    }
  });

  it('a change of the paging drops the cursor and ends the lease of a running poll', async () => {
    const { integration, tenant } = await createPoll();
    const { id } = integration;
    await h.database.query({ text: `update integrations set cursor = 'c7', lease_number = 4 where id = $1` }, [id]);
    const progress = async () =>
      (await h.database.query({ text: 'select cursor, lease_number from integrations where id = $1' }, [id]))[0];
    const map = { attempt: { attempt_id: '/id' }, score: '/points' };
    const mapped = JSON.stringify({ version: 1, map, pull: { url: URL_OF_NOBODY } });
    expectAccepted(await update(tenant, id, { descriptorJson: mapped }));
    expect(await progress()).toEqual({ cursor: 'c7', lease_number: 4n });
    expectAccepted(await update(tenant, id, { descriptorJson: pullDescriptor({ query: { since: '0' } }) }));
    expect(await progress()).toEqual({ cursor: null, lease_number: 5n });
  });
});

describe('signing secrets', () => {
  it('a rotation keeps only the secret that it replaces as the previous one', async () => {
    const { integration, tenant, secret: first } = await h.createIntegration();
    const own = { tenant, integrationId: integration.id };
    const { signingSecret: second, ...rest } = expectAccepted(await h.integrations.rotateSecret(own));
    expect(second).toMatch(SECRET);
    expect(rest).toEqual({ integration });
    expect(await storedSecrets(integration.id)).toMatchObject({ signing: second, previous: first });
    const { signingSecret: third } = expectAccepted(await h.integrations.rotateSecret(own));
    expect(await storedSecrets(integration.id)).toMatchObject({ signing: third, previous: second });
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it('retiring the previous secret leaves the current secret', async () => {
    const { integration, tenant } = await h.createIntegration();
    const own = { tenant, integrationId: integration.id };
    const { signingSecret } = expectAccepted(await h.integrations.rotateSecret(own));
    for (let time = 0; time < 2; time += 1) {
      expect(await h.integrations.retirePreviousSecret(own)).toEqual({ integration });
      expect(await storedSecrets(integration.id)).toMatchObject({ signing: signingSecret, previous: null });
    }
  });

  it('a rotation of a pull_poll or an sdk_direct is refused', async () => {
    for (const created of [await createPoll(), await h.createIntegration({ transport: SDK_DIRECT })]) {
      const { integration, tenant } = created;
      const own = { tenant, integrationId: integration.id };
      expect(await h.integrations.rotateSecret(own)).toMatchObject({ code: 'invalid_request' });
      expect(await h.integrations.retirePreviousSecret(own)).toEqual({ integration });
    }
  });

  it('the secrets stored after concurrent rotations and retirements were each shown to the partner', async () => {
    await using replica = await h.startReplica();
    const { integration, tenant } = await h.createIntegration();
    const own = { tenant, integrationId: integration.id };
    for (let round = 0; round < 10; round += 1) {
      const [one, two] = await Promise.all([
        h.integrations.rotateSecret(own),
        replica.integrations.rotateSecret(own),
        h.integrations.retirePreviousSecret(own),
      ]);
      const shown = [expectAccepted(one).signingSecret, expectAccepted(two).signingSecret];
      const { signing, previous } = await storedSecrets(integration.id);
      expect(shown).toContain(signing);
      expect([null, ...shown.filter((it) => it !== signing)]).toContain(previous);
    }
  });

  it('each secret is encrypted, and bound to its own integration and purpose', async () => {
    const push = await h.createIntegration();
    const poll = await createPoll({ descriptorJson: pullDescriptor({ auth: { type: 'bearer', token: PULL_SECRET } }) });
    const { signingSecret } = expectAccepted(
      await h.integrations.rotateSecret({ tenant: push.tenant, integrationId: push.integration.id }),
    );
    const text = 'select coalesce(signing_secret, pull_secret) as sealed from integrations where id = $1';
    for (const [{ integration }, owner] of [
      [push, pullSecretOwner],
      [poll, secretOwner],
      [push, () => secretOwner(newId())],
      [poll, () => pullSecretOwner(newId())],
    ] as const) {
      const [row] = await h.database.query<{ sealed: Buffer }>({ text }, [integration.id]);
      expect(() => createEncryption(SECRET_KEYS).decrypt(row?.sealed ?? Buffer.of(), owner(integration.id))).toThrow();
    }
    for (const shown of [push.secret, signingSecret, PULL_SECRET]) {
      for (const form of [shown, Buffer.from(shown).toString('hex')]) {
        for (const table of ['integrations', 'programs']) {
          const statement = { text: `select count(*)::int as rows from ${table} t where t::text ilike $1` };
          expect(await h.database.query(statement, [`%${form}%`])).toEqual([{ rows: 0 }]);
        }
        expect(h.logLines.join('')).not.toContain(form);
      }
    }
  });
});

describe('the secret of polls', () => {
  const withAuth = (auth: Record<string, unknown>, url = URL_OF_NOBODY) => pullDescriptor({ url, auth });

  it('no response shows the secret of `pull.auth`', async () => {
    const { integration, tenant } = await createPoll({
      descriptorJson: withAuth({ type: 'header', name: 'X-Key', value: PULL_SECRET }),
    });
    expect(JSON.parse(integration.descriptorJson)).toEqual({
      version: 1,
      pull: { url: URL_OF_NOBODY, auth: { type: 'header', name: 'X-Key' } },
    });
    expect(await listed(tenant)).toEqual([integration]);
    expect(await storedSecrets(integration.id)).toMatchObject({ pull: PULL_SECRET });
  });

  it('an update may omit the secret only while requests go to the same origin', async () => {
    const { integration, tenant } = await createPoll({
      descriptorJson: withAuth({ type: 'bearer', token: PULL_SECRET }),
    });
    const { id } = integration;
    const kept = withAuth({ type: 'bearer' }, 'https://127.0.0.1:1025/other');
    expect(expectAccepted(await update(tenant, id, { descriptorJson: kept })).integration?.descriptorJson).toBe(kept);
    expect(await storedSecrets(id)).toMatchObject({ pull: PULL_SECRET });
    for (const other of [
      withAuth({ type: 'bearer' }, 'https://127.0.0.1:1026/'),
      withAuth({ type: 'basic', username: 'a' }),
    ])
      expect(await update(tenant, id, { descriptorJson: other })).toMatchObject({ code: 'invalid_request' });
    expect((await listed(tenant))[0]?.descriptorJson).toBe(kept);
    const moved = withAuth({ type: 'bearer', token: 'another' }, 'https://127.0.0.1:1026/');
    expectAccepted(await update(tenant, id, { descriptorJson: moved }));
    expect(await storedSecrets(id)).toMatchObject({ pull: 'another' });
  });

  it('a descriptor without authentication, or without a URL, removes the secret', async () => {
    for (const descriptorJson of [pullDescriptor(), '{}']) {
      const { integration, tenant } = await createPoll({
        descriptorJson: withAuth({ type: 'bearer', token: PULL_SECRET }),
      });
      expectAccepted(await update(tenant, integration.id, { descriptorJson }));
      expect(await storedSecrets(integration.id)).toMatchObject({ pull: null });
      const again = withAuth({ type: 'bearer' });
      expect(await update(tenant, integration.id, { descriptorJson: again })).toMatchObject({
        code: 'invalid_request',
      });
    }
  });
});

describe('programs', () => {
  const rowOf = async (id: string) =>
    (await h.database.query({ text: 'select * from programs where id = $1' }, [id]))[0];

  it('an older or repeated version of a program changes nothing', async () => {
    const programId = newId();
    const [developerId, other] = [newId(), newId()];
    const { TEST, LIVE } = Environment;
    const put = (version: bigint, owner: string, openEnvironments: Environment[]) =>
      h.integrations.putProgram({ programId, developerId: owner, openEnvironments, version });
    expectAccepted(await put(2n, developerId, [TEST, LIVE]));
    const stored = { id: programId, developer_id: developerId, open_environments: ['test', 'live'], version: 2n };
    expect(await rowOf(programId)).toEqual(stored);
    for (const late of [2n, 1n]) expectAccepted(await put(late, other, []));
    expect(await rowOf(programId)).toEqual(stored);
    // The calls did not even lock the row.
    const locks = { text: 'select xmax from programs where id = $1' };
    expect(await h.database.query(locks, [programId])).toEqual([{ xmax: '0' }]);
    expectAccepted(await put(3n, '', [TEST]));
    expect(await rowOf(programId)).toEqual({ ...stored, developer_id: null, open_environments: ['test'], version: 3n });
  });

  it('concurrent versions of a program leave the newest version, in any order', async () => {
    await using replica = await h.startReplica();
    const programId = newId();
    const versions = Array.from({ length: 20 }, (_, index) => BigInt((index * 7) % 20));
    await Promise.all(
      versions.map((version, index) =>
        (index % 2 === 0 ? h : replica).integrations.putProgram({
          programId,
          developerId: '',
          openEnvironments: version === 19n ? [] : [Environment.LIVE],
          version,
        }),
      ),
    );
    expect(await rowOf(programId)).toMatchObject({ version: 19n, open_environments: [] });
  });
});

it.each([
  [
    'integrations_descriptor_length',
    MAX_DESCRIPTOR_BYTES,
    (length: number) => ({ descriptor: { 'x-a': 'x'.repeat(length - '{"x-a":""}'.length) } }),
  ],
  ['integrations_cursor_length', MAX_URL_CHARACTERS, (length: number) => ({ cursor: 'c'.repeat(length) })],
  ['listened_samples_ref_length', MAX_PLAYER_REF_CHARACTERS, (length: number) => ({ player_ref: '🎯'.repeat(length) })],
])('the database’s %s equals the bound of the rule', async (constraint, most, valuesOf) => {
  expect(await isExactBound(h.database, { constraint, most }, valuesOf)).toBe(true);
});

it('the database accepts exactly the poll intervals that the rule accepts', async () => {
  const takes = (seconds: number) =>
    constraintAccepts(h.database, 'integrations_interval_is_at_least_30', { pull_interval_seconds: seconds });
  expect(await takes(MIN_POLL_INTERVAL_SECONDS)).toBe(true);
  expect(await takes(MIN_POLL_INTERVAL_SECONDS - 1)).toBe(false);
  expect(await takes(MAX_POLL_INTERVAL_SECONDS)).toBe(true);
  await expect(takes(MAX_POLL_INTERVAL_SECONDS + 1)).rejects.toThrow('integer');
});

it('the database accepts the log’s excerpt of any body', async () => {
  for (const body of ['🎯'.repeat(2_000), 'é\0'.repeat(3_000), '\ud83d'.repeat(3_000)]) {
    const excerpt = { body_excerpt: excerptOf(Buffer.from(body)) };
    expect(await constraintAccepts(h.database, 'log_entries_excerpt_length', excerpt)).toBe(true);
  }
});
