import { attemptHandlers, EXTENSION_INTERVAL_MS, extendSigningKey, putSigningKey } from '@laurel/attempts';
import { createDatabase, type Database } from '@laurel/postgres';
import type { SigningKey } from '@laurel/proto/common';
import { createSigner, type Signer } from '@laurel/signature';
import { createTestDatabase, expectAccepted } from '@laurel/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const MINUTE_MS = 60_000;
/**
 * A key's period begins this long before the key was inserted, because a process may estimate the
 * database's time a little early.
 */
const HEAD_START_MS = 1_000;
const [first, second, third] = [1, 2, 3].map((seed) => createSigner(Buffer.alloc(32, seed))) as [
  Signer,
  Signer,
  Signer,
];

let stack: AsyncDisposableStack;
let database: Database;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const { url } = stack.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = stack.use(createDatabase({ url, maxConnections: 8, applicationName: 'challenge-test' }));
});
afterEach(() => stack.disposeAsync());

const put = ({ publicKey }: Signer) => putSigningKey(database, publicKey);

async function list(): Promise<readonly SigningKey[]> {
  const { listSigningKeys } = attemptHandlers({ database } as Parameters<typeof attemptHandlers>[0]);
  return expectAccepted(await listSigningKeys({}, {} as never)).keys;
}

async function keyOf(signer: Signer): Promise<SigningKey & { readonly from: Date }> {
  const key = (await list()).find(({ keyId }) => keyId === signer.keyId);
  if (key?.from === undefined) throw new Error('the signing key is not listed');
  return { ...key, from: key.from };
}

async function now(): Promise<number> {
  const [row] = await database.query<{ now: Date }>({ text: 'select now() as now' });
  return row?.now.getTime() ?? 0;
}

/** Moves the stored instants of a key, because a test cannot change the database's time. */
const age = (id: number) =>
  database.query(
    { text: `update signing_keys set valid_until = created_at + interval '1 millisecond' where id = $1` },
    [id],
  );

describe('signing keys', () => {
  it('the period of the current signing key has no end', async () => {
    const before = await now();
    const id = await put(first);
    expect(await put(first)).toBe(id);
    const [key, ...rest] = await list();
    expect(rest).toEqual([]);
    expect(key).toEqual({ keyId: first.keyId, publicKey: first.publicKey, from: expect.any(Date), until: undefined });
    expect(key?.from?.getTime()).toBeGreaterThanOrEqual(before - HEAD_START_MS);
    expect(key?.from?.getTime()).toBeLessThanOrEqual((await now()) - HEAD_START_MS);
    await extendSigningKey(database, id);
    expect(await list()).toEqual([key]);
  });

  it('a replaced signing key stays valid for a minute after the next key', async () => {
    await put(first);
    await put(second);
    const [old, current] = [await keyOf(first), await keyOf(second)];
    expect(current.until).toBeUndefined();
    expect(old.until?.getTime()).toBe(current.from.getTime() + HEAD_START_MS + MINUTE_MS);
    expect((await list()).map(({ keyId }) => keyId)).toEqual([first.keyId, second.keyId]);
  });

  it('a replaced signing key stays valid for as long as a process signs with it', async () => {
    const id = await put(first);
    const newer = await put(second);
    await age(id);
    await extendSigningKey(database, newer);
    expect((await keyOf(first)).until?.getTime()).toBeLessThan(await now());
    const before = await now();
    await extendSigningKey(database, id);
    expect((await keyOf(first)).until?.getTime()).toBeGreaterThanOrEqual(before + MINUTE_MS);
    expect((await keyOf(second)).until).toBeUndefined();
    expect(EXTENSION_INTERVAL_MS).toBeLessThan(MINUTE_MS / 2);
  });

  it('a replaced signing key does not become current again', async () => {
    const id = await put(first);
    await put(second);
    await age(id);
    const before = await now();
    expect(await put(first)).toBe(id);
    expect((await keyOf(first)).until?.getTime()).toBeGreaterThanOrEqual(before + MINUTE_MS);
    expect((await keyOf(second)).until).toBeUndefined();
  });

  it('exactly one of the signing keys of processes that start together is current', async () => {
    await put(first);
    const ids = await Promise.all([put(second), put(third), put(second), put(third), put(first), put(second)]);
    expect(new Set(ids).size).toBe(3);
    const open = (await list()).filter(({ until }) => until === undefined);
    expect(open).toHaveLength(1);
    expect([second.keyId, third.keyId]).toContain(open[0]?.keyId);
    expect(await list()).toHaveLength(3);
  });

  it.each([
    ['deleted', 'delete from signing_keys', 'signing_keys_are_kept'],
    ['changed', `update signing_keys set public_key = '\\x00'`, 'signing_keys_are_kept'],
    ['dated back', `update signing_keys set created_at = created_at - interval '1 day'`, 'signing_keys_are_kept'],
    [
      'opened again',
      'update signing_keys set valid_until = null where valid_until is not null',
      'signing_keys_stay_replaced',
    ],
    ['ended before they began', 'update signing_keys set valid_until = created_at', 'signing_keys_period_is_in_order'],
  ])('signing keys are never %s', async (_what, text, constraint) => {
    await put(first);
    await put(second);
    await expect(database.query({ text })).rejects.toMatchObject({ constraint });
  });
});
