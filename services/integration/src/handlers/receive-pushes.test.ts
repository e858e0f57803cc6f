/**
 * Whose pushes are accepted: what a signature proves, which integrations are open, which bodies are
 * read, and what is logged.
 */
import { createEncryption } from '@laurel/encryption';
import { Environment } from '@laurel/proto/common';
import { IntegrationStatus, type PushResult, RecordStatus } from '@laurel/proto/integration';
import { signWebhook } from '@laurel/signature';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import { secretOwner } from '../domain/signing-secret.ts';
import { useHarness } from '../integration.fixture.ts';

const h = useHarness();

const BODY = Buffer.from('{"score":1}');
const UNREADABLE = 'd'.repeat(64);
const UNAUTHORIZED = { $case: 'refused', value: expect.objectContaining({ code: 'unauthorized' }) };
/** The response of a draft, once the signature is verified. */
const SERVED = { $case: 'refused', value: expect.objectContaining({ code: 'not_found' }) };
const FAILED = { $case: 'failure', value: expect.anything() };

/** A draft whose previous secret is under a key that the service does not have. */
async function createWithUnreadable() {
  const { integration, secret } = await h.createIntegration();
  const missing = createEncryption({ current: { version: 7, bytes: Buffer.alloc(32, 7) }, accepted: [] });
  const sealed = missing.encrypt(UNREADABLE, secretOwner(integration.id));
  const text = 'update integrations set previous_signing_secret = $2 where id = $1';
  await h.database.query({ text }, [integration.id, sealed]);
  return { id: integration.id, secret };
}

async function push(
  integrationId: string,
  signature: string,
  body = BODY,
  { integrations }: Pick<typeof h, 'integrations'> = h,
): Promise<PushResult['result']> {
  const { results } = expectAccepted(
    await integrations.receivePushes({ pushes: [{ integrationId, signature, body, requestId: newId() }] }),
  );
  return results[0]?.result;
}

/**
 * An integration, active unless another status is given, and a function that signs bodies as its
 * partner does.
 */
async function createTarget(status: IntegrationStatus = IntegrationStatus.ACTIVE) {
  const { integration, tenant, secret } = await h.createIntegration();
  expectAccepted(await h.integrations.updateIntegration({ tenant, integrationId: integration.id, status }));
  const pushSigned = (text: string) => push(integration.id, signWebhook(secret, Buffer.from(text)), Buffer.from(text));
  return { id: integration.id, tenant, secret, pushSigned };
}

/** Waits until the integration's log has this many entries, and returns them, oldest first. */
async function logged(id: string, count: number) {
  const text = 'select body_excerpt, error, records from log_entries where integration_id = $1 order by id';
  const read = () => h.database.query<{ body_excerpt: string; error: string | null; records: string }>({ text }, [id]);
  await expect.poll(read).toHaveLength(count);
  return (await read()).map((row) => ({ ...row, records: JSON.parse(row.records) }));
}

/** Counts the log lines that name the integration. */
const linesOf = (id: string) => h.logLines.filter((line) => line.toLowerCase().includes(id)).length;

it.each([
  ['no signature', ''],
  ['a signature of another scheme', signWebhook(UNREADABLE, BODY).replace('sha256', 'sha512')],
  ['a digit too few', signWebhook(UNREADABLE, BODY).slice(0, -1)],
])(
  'a push with %s is unauthorized and not logged while a secret of the integration cannot be decrypted',
  async (_name, signature) => {
    const { id } = await createWithUnreadable();
    expect(await push(id, signature)).toEqual(UNAUTHORIZED);
    expect(linesOf(id)).toBe(0);
  },
);

it('a push that is signed with a readable secret is served while the other secret cannot be decrypted', async () => {
  const { id, secret } = await createWithUnreadable();
  expect(await push(id, signWebhook(secret, BODY))).toEqual(SERVED);
  expect(linesOf(id)).toBe(0);
});

it('a push returns its tenant and its cost only with a valid signature', async () => {
  const { integration, secret } = await h.createIntegration();
  const of = async (integrationId: string, signature: string) => {
    const push = { integrationId, signature, body: BODY, requestId: newId() };
    const { results } = expectAccepted(await h.integrations.receivePushes({ pushes: [push] }));
    return results[0];
  };
  const valid = signWebhook(secret, BODY);
  expect((await of(integration.id, valid))?.tenant).toEqual(expect.objectContaining({ programId: expect.any(String) }));
  for (const result of [await of(integration.id, ''), await of(newId(), valid)]) {
    expect(result).toMatchObject({ tenant: undefined, extraCostBytes: 0n });
  }
});

it.each<readonly [body: string, result: object]>([
  ['{"events":{"type":"begin"}}', { records: [{ index: 0, attemptId: '', status: RecordStatus.IGNORED }] }],
  ['{"events":[]}', { records: [] }],
  ['{"events":null}', { records: [] }],
  ['{}', { records: [] }],
])('a body that settles nothing, %s, is answered with the result of each record', async (body, value) => {
  const map = { records: '/events', when: [{ pointer: '/type', in: ['end'] }] };
  const { integration, tenant, secret } = await h.createIntegration({
    descriptorJson: JSON.stringify({ version: 1, map }),
  });
  expectAccepted(
    await h.integrations.updateIntegration({
      tenant,
      integrationId: integration.id,
      status: IntegrationStatus.ACTIVE,
    }),
  );
  const sent = Buffer.from(body);
  const pushes = [
    { integrationId: integration.id, signature: signWebhook(secret, sent), body: sent, requestId: newId() },
  ];
  const { results } = expectAccepted(await h.integrations.receivePushes({ pushes }));
  expect(results[0]?.result).toMatchObject({ $case: 'batch', value });
});

it('a push that may be signed with an unreadable secret fails', async () => {
  const [one, other] = [await createWithUnreadable(), await createWithUnreadable()];
  const signature = signWebhook(UNREADABLE, BODY);
  for (const id of [one.id, one.id.toUpperCase(), other.id, one.id]) expect(await push(id, signature)).toEqual(FAILED);
  expect([linesOf(one.id), linesOf(other.id)]).toEqual([1, 1]);
  h.clock.advance(59_999);
  await push(one.id, signature);
  expect(linesOf(one.id)).toBe(1);
  h.clock.advance(1);
  expect(await push(one.id, signature)).toEqual(FAILED);
  expect([linesOf(one.id), linesOf(other.id)]).toEqual([2, 1]);
});

it('every invalid signature gets the same refusal, even for an unknown id', async () => {
  const [target, other, draft] = [
    await createTarget(),
    await createTarget(),
    await createTarget(IntegrationStatus.DRAFT),
  ];
  const signature = signWebhook(target.secret, BODY);
  const failures = [
    [target.id, ''],
    [target.id, signature.replace('sha256=', 'sha512=')],
    [target.id, signature.slice('sha256='.length)],
    [target.id, signWebhook('0'.repeat(64), BODY)],
    [target.id, signWebhook(other.secret, BODY)],
    [draft.id, ''],
    [draft.id, signature],
    [newId(), signature],
    ['nonsense', signature],
    ['', ''],
  ] as const;
  const refusals = await Promise.all(failures.map(([id, given]) => push(id, given)));
  expect(refusals).toEqual(failures.map(() => refusals[0]));
  expect(refusals[0]).toEqual(UNAUTHORIZED);
  for (const { id, pushSigned } of [target, draft]) {
    await pushSigned('{');
    expect(await logged(id, 1)).toMatchObject([{ body_excerpt: '{' }]);
  }
});

it('every replica accepts both secrets after a rotation, and only the current one after the retirement', async () => {
  await using replica = await h.startReplica();
  const { id, tenant, secret: first } = await createTarget();
  const { signingSecret: second } = expectAccepted(await h.integrations.rotateSecret({ tenant, integrationId: id }));
  const verdicts = async () =>
    Promise.all([h, replica].flatMap((at) => [first, second].map((key) => push(id, signWebhook(key, BODY), BODY, at))));
  const read = { $case: 'refused', value: expect.objectContaining({ code: 'invalid_request' }) };
  expect(await verdicts()).toEqual([read, read, read, read]);
  expectAccepted(await h.integrations.retirePreviousSecret({ tenant, integrationId: id }));
  expect(await verdicts()).toEqual([UNAUTHORIZED, read, UNAUTHORIZED, read]);
});

it.each(['a draft', 'suspended', 'of a program that is closed in its environment'])(
  'a signed push to an integration that is %s is not found',
  async (what) => {
    const { DRAFT, SUSPENDED, ACTIVE } = IntegrationStatus;
    const status = what === 'a draft' ? DRAFT : what === 'suspended' ? SUSPENDED : ACTIVE;
    const { tenant, pushSigned } = await createTarget(status);
    if (status === ACTIVE) {
      const closed = { programId: tenant.programId, developerId: newId(), openEnvironments: [Environment.TEST] };
      expectAccepted(await h.integrations.putProgram({ ...closed, version: 2n }));
    }
    expect(await pushSigned('[]')).toEqual({ $case: 'refused', value: expect.objectContaining({ code: 'not_found' }) });
  },
);

const ofChallenge = (rest: object) => ({ attempt_id: newOwnedId('challenge'), ...rest });

it.each([
  ['nothing', ''],
  ['invalid JSON', '{'],
  ['a member twice', '{"score":1,"score":2}'],
  ['a text', '"x"'],
  ['no member', '{}'],
  ['no attempt', '{"score":1}'],
  ['an attempt that is not a uuid', '{"attempt_id":"x","score":1}'],
  ['no score', JSON.stringify(ofChallenge({}))],
  ['a score that is not a number', JSON.stringify(ofChallenge({ score: 'x' }))],
  ['a misspelt score', JSON.stringify(ofChallenge({ scores: 1 }))],
  ['101 records', JSON.stringify(Array.from({ length: 101 }, () => ofChallenge({ score: 1 })))],
])('a body with %s is refused as a whole', async (_what, body) => {
  const { pushSigned } = await createTarget();
  expect(await pushSigned(body)).toEqual({
    $case: 'refused',
    value: expect.objectContaining({ code: 'invalid_request' }),
  });
});

it.each(['[]', 'null'])('a list without a record, %s, is a batch without a result', async (body) => {
  const { pushSigned } = await createTarget();
  expect(await pushSigned(body)).toEqual({ $case: 'batch', value: { records: [] } });
});

it('the log shows each push with a valid signature and the results of its records', async () => {
  const { id, pushSigned } = await createTarget();
  const records = JSON.stringify([ofChallenge({}), { score: 1 }]);
  const answer = await pushSigned(records);
  const rejected = (index: number) => ({ index, status: RecordStatus.REJECTED, code: 'invalid_request' });
  expect(answer).toMatchObject({ $case: 'batch', value: { records: [rejected(0), rejected(1)] } });
  // The log is ordered by instant.
  h.clock.advance(1);
  await pushSigned('{');
  expect(await logged(id, 2)).toMatchObject([
    {
      body_excerpt: records,
      error: null,
      records: [
        { index: 0, status: 'rejected' },
        { index: 1, status: 'rejected' },
      ],
    },
    { body_excerpt: '{', error: 'invalid_request', records: [] },
  ]);
});
