/**
 * After a change of the key: which secrets move to the current key, what happens if a developer
 * rotates a secret at the same time, and which deliveries wait.
 */
import { createEncryption, type Encryption } from '@laurel/encryption';
import { createDatabase, type Database } from '@laurel/postgres';
import { metrics } from '@laurel/telemetry';
import { createReadLogger, createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Endpoint } from '../domain/endpoint.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import { insertDelivery } from '../repository/deliveries.ts';
import { insertEndpoint, updateSecret } from '../repository/endpoints.ts';
import { leaseSends } from '../repository/sends.ts';
import { createReencryptSecrets } from './reencrypt-secrets.ts';

const cleanup = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const migrations = new URL('../../migrations/', import.meta.url);
  const { runningUrl } = cleanup.use(await createTestDatabase({ migrations }));
  database = cleanup.use(createDatabase({ url: runningUrl, maxConnections: 4, applicationName: 'reencrypt-test' }));
});
afterAll(() => cleanup.disposeAsync());
beforeEach(async () => {
  await database.query({ text: 'delete from deliveries' });
  await database.query({ text: 'delete from endpoints' });
});

const keyOf = (version: number) => ({ version, bytes: Buffer.alloc(32, version) });
const under = (current: number, ...accepted: number[]) =>
  createEncryption({ current: keyOf(current), accepted: accepted.map(keyOf) });

async function addEndpoint(encryption: Encryption, secret: string): Promise<Endpoint> {
  const endpoint: Endpoint = {
    id: newId(),
    developerId: newId(),
    url: 'https://127.0.0.1:1025/hooks',
    events: [],
    programId: null,
    environment: null,
    description: '',
    isActive: true,
    createdAt: new Date(),
  };
  await insertEndpoint(database, endpoint, encryption.encrypt(secret, secretOwner(endpoint.id)));
  return endpoint;
}

async function storedSecret({ id }: Pick<Endpoint, 'id'>): Promise<Buffer> {
  const [row] = await database.query<{ secret: Buffer }>({ text: 'select secret from endpoints where id = $1' }, [id]);
  return row?.secret ?? Buffer.of();
}

function start(encryption: Encryption) {
  const { logger, logLines } = createReadLogger('webhook');
  return { ...createReencryptSecrets({ database, encryption, logger }), logLines };
}

async function counted(): Promise<Record<string, number>> {
  const metric = await metrics.getSingleMetric('laurel_encrypted_secrets')?.get();
  return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.key_version, value]) ?? []);
}

it('every secret under an older key is re-encrypted under the current key', async () => {
  const old = await Promise.all(Array.from({ length: 230 }, (_, index) => addEndpoint(under(1), `secret ${index}`)));
  const current = await addEndpoint(under(2), 'current');
  const later = await addEndpoint(under(3), 'later');
  const [currentBytes, laterBytes] = [await storedSecret(current), await storedSecret(later)];
  const { runOnce, logLines } = start(under(2, 1, 3));
  await runOnce();
  for (const [index, endpoint] of old.entries()) {
    const opened = under(2).decrypt(await storedSecret(endpoint), secretOwner(endpoint.id));
    expect(opened).toBe(`secret ${index}`);
  }
  expect([await storedSecret(current), await storedSecret(later)]).toEqual([currentBytes, laterBytes]);
  expect(await counted()).toEqual({ 2: 231, 3: 1 });
  expect(logLines.filter((line) => line.includes('encrypted again')).map((line) => JSON.parse(line))).toMatchObject([
    { rows: 230, keyVersion: 2 },
  ]);
  await runOnce();
  expect(logLines.filter((line) => line.includes('encrypted again'))).toHaveLength(1);
});

it('a secret that its developer replaces during its re-encryption is never overwritten', async () => {
  const endpoint = await addEndpoint(under(1), 'before');
  const { runOnce } = start(under(2, 1));
  let running: Promise<void> | undefined;
  await database.transaction(async (tx) => {
    const own = under(1).encrypt('by its developer', secretOwner(endpoint.id));
    await updateSecret(tx, endpoint.developerId, endpoint.id, own);
    running = runOnce();
    const waiting = {
      text: `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    };
    await expect.poll(async () => (await database.query(waiting)).length, { timeout: 10_000 }).toBe(1);
  });
  await running;
  expect(under(1).decrypt(await storedSecret(endpoint), secretOwner(endpoint.id))).toBe('by its developer');
  await runOnce();
  expect(under(2).decrypt(await storedSecret(endpoint), secretOwner(endpoint.id))).toBe('by its developer');
});

it('a secret under a key that is not configured stays unchanged and is reported', async () => {
  const endpoint = await addEndpoint(under(1), 'of a key that was removed');
  const before = await storedSecret(endpoint);
  const { runOnce, logLines } = start(under(3, 2));
  await runOnce();
  await runOnce();
  expect(await storedSecret(endpoint)).toEqual(before);
  expect(await counted()).toEqual({ 1: 1 });
  const warnings = logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn' || level === 40);
  expect(warnings).toMatchObject([{ unknown: [{ version: 1, count: 1 }] }]);
});

it('a secret that cannot be decrypted does not stop the re-encryption of the others', async () => {
  const wrong = createEncryption({ current: { version: 1, bytes: Buffer.alloc(32, 99) }, accepted: [] });
  const broken = await addEndpoint(wrong, 'under another key of that version');
  const others = await Promise.all([1, 2, 3].map((n) => addEndpoint(under(1), `secret ${n}`)));
  const { runOnce, logLines } = start(under(2, 1));
  await runOnce();
  await runOnce();
  expect(await counted()).toEqual({ 1: 1, 2: 3 });
  const opened = others.map(async (other) => under(2).decrypt(await storedSecret(other), secretOwner(other.id)));
  expect(await Promise.all(opened)).toEqual(['secret 1', 'secret 2', 'secret 3']);
  expect(logLines.filter((line) => line.includes('does not open with the configured keys'))).toEqual([
    expect.stringContaining(broken.id),
  ]);
});

it('a delivery waits while its endpoint’s secret cannot be decrypted', async () => {
  const readable = await addEndpoint(under(2), 'readable');
  const unreadable = await addEndpoint(under(1), 'unreadable');
  for (const { id } of [readable, unreadable]) {
    await insertDelivery(database, {
      id: newId(),
      endpointId: id,
      eventId: newId(),
      eventType: 'round.settled',
      tenant: null,
      body: Buffer.from('{}'),
      resendOf: null,
      createdAt: new Date(Date.now() - 1_000),
    });
  }
  const lease = async (keyVersions: readonly number[]) => {
    const slots = [readable, unreadable].map(({ id }) => ({ endpointId: id, environment: 'test' as const, slots: 4 }));
    const now = new Date();
    const leased = await leaseSends(database, slots, {
      now,
      leasedUntil: new Date(now.getTime() + 60_000),
      keyVersions,
    });
    return leased.sends.map(({ endpointId, number }) => ({ endpointId, number }));
  };
  expect(await lease([2])).toEqual([{ endpointId: readable.id, number: 1 }]);
  expect(await lease([2, 1])).toEqual([{ endpointId: unreadable.id, number: 1 }]);
});

describe('the keys at the start', () => {
  const other = (version: number) => ({ version, bytes: Buffer.alloc(32, 99) });
  const verify = (current: ReturnType<typeof keyOf>, ...accepted: ReturnType<typeof keyOf>[]) =>
    start(createEncryption({ current, accepted })).verifyKeys();

  it('a wrong key under the version of the stored secrets is refused', async () => {
    await addEndpoint(under(1), 'one');
    await addEndpoint(under(1), 'two');
    await expect(verify(other(1))).rejects.toThrow('no stored secret under version 1 of the key opens');
    await expect(verify(keyOf(2), other(1))).rejects.toThrow('no stored secret under version 1 of the key opens');
    await expect(verify(keyOf(1), other(2))).resolves.toBeUndefined();
    await expect(verify(keyOf(2), keyOf(1))).resolves.toBeUndefined();
  });

  it('a key is accepted if there are no secrets, or if only some of them cannot be decrypted', async () => {
    await expect(verify(other(1))).resolves.toBeUndefined();
    await addEndpoint(createEncryption({ current: other(1), accepted: [] }), 'damaged');
    await addEndpoint(under(1), 'intact');
    await expect(verify(keyOf(1))).resolves.toBeUndefined();
    await expect(verify(keyOf(2))).resolves.toBeUndefined();
  });
});
