/** Pushes to an integration of which a secret does not open, because its key is missing: who is served, who is refused, and what is logged. */
import { createEncryption } from '@laurel/encryption';
import { newId } from '@laurel/ids';
import type { PushResult } from '@laurel/proto/integration';
import { signWebhook } from '@laurel/signature';
import { ok } from '@laurel/testing';
import { expect, it } from 'vitest';
import { secretOwner } from '../domain/signing-secret.ts';
import { useHarness } from '../integration.fixture.ts';

const h = useHarness();

const BODY = Buffer.from('{"score":1}');
const UNREADABLE = 'd'.repeat(64);
const UNAUTHORIZED = { $case: 'refused', value: expect.objectContaining({ code: 'unauthorized' }) };
/** Of a draft, once its signature is verified. */
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

async function push(integrationId: string, signature: string): Promise<PushResult['result']> {
  const { results } = ok(
    await h.integrations.receivePushes({ pushes: [{ integrationId, signature, body: BODY, requestId: newId() }] }),
  );
  return results[0]?.result;
}

/** How many lines name the integration. */
const linesOf = (id: string) => h.logLines.filter((line) => line.toLowerCase().includes(id)).length;

it.each([
  ['no signature', ''],
  ['a signature of another scheme', signWebhook(UNREADABLE, BODY).replace('sha256', 'sha512')],
  ['a digit too few', signWebhook(UNREADABLE, BODY).slice(0, -1)],
])(
  'a push with %s is unauthorized and is not logged while a secret of the integration does not open',
  async (_name, signature) => {
    const { id } = await createWithUnreadable();
    expect(await push(id, signature)).toEqual(UNAUTHORIZED);
    expect(linesOf(id)).toBe(0);
  },
);

it('a push that is signed with a secret that opens is served while the other secret of the integration does not', async () => {
  const { id, secret } = await createWithUnreadable();
  expect(await push(id, signWebhook(secret, BODY))).toEqual(SERVED);
  expect(linesOf(id)).toBe(0);
});

it('whose an integration is, and what a push cost, is shown for a valid signature alone', async () => {
  const { integration, secret } = await h.createIntegration();
  const of = async (integrationId: string, signature: string) => {
    const push = { integrationId, signature, body: BODY, requestId: newId() };
    const { results } = ok(await h.integrations.receivePushes({ pushes: [push] }));
    return results[0];
  };
  const valid = signWebhook(secret, BODY);
  expect((await of(integration.id, valid))?.tenant).toEqual(expect.objectContaining({ programId: expect.any(String) }));
  for (const result of [await of(integration.id, ''), await of(newId(), valid)]) {
    expect(result).toMatchObject({ tenant: undefined, extraCostBytes: 0n });
  }
});

it('a push that may be signed with a secret that does not open fails, and is logged at most once a minute for its integration', async () => {
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
