/**
 * After a change of the key: which of an integration's secrets move to the current key, and what
 * happens if a partner changes a secret at the same time.
 */
import { createEncryption } from '@laurel/encryption';
import { createDatabase, type Database } from '@laurel/postgres';
import { metrics } from '@laurel/telemetry';
import { createReadLogger, createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { pullSecretOwner } from '../domain/pull-secret.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import { rotateSigningSecret } from '../repository/integrations.ts';
import { createReencryptSecrets } from './reencrypt-secrets.ts';

type Stored = {
  readonly signing_secret: Buffer | null;
  readonly previous_signing_secret: Buffer | null;
  readonly pull_secret: Buffer | null;
};
type Secrets = { readonly signing?: Buffer; readonly previous?: Buffer; readonly pull?: Buffer };

const cleanup = new AsyncDisposableStack();
let database: Database;
let owner: Database;
beforeAll(async () => {
  const migrations = new URL('../../migrations/', import.meta.url);
  const { url, runningUrl } = cleanup.use(await createTestDatabase({ migrations }));
  database = cleanup.use(createDatabase({ url: runningUrl, maxConnections: 4, applicationName: 'reencrypt-test' }));
  owner = cleanup.use(createDatabase({ url, maxConnections: 1, applicationName: 'reencrypt-test-owner' }));
});
afterAll(() => cleanup.disposeAsync());
beforeEach(async () => {
  await owner.query({ text: 'delete from integrations' });
});

const keyOf = (version: number) => ({ version, bytes: Buffer.alloc(32, version) });
const under = (current: number, ...accepted: number[]) =>
  createEncryption({ current: keyOf(current), accepted: accepted.map(keyOf) });

/** `secretsOf` encrypts for the id that the integration will have. */
async function addIntegration(
  transport: 'push_webhook' | 'pull_poll' | 'sdk_direct',
  secretsOf: (id: string) => Secrets = () => ({}),
): Promise<string> {
  const [id, programId] = [newId(), newId()];
  const { signing = null, previous = null, pull = null } = secretsOf(id);
  await owner.query({ text: `insert into programs (id, open_environments, version) values ($1, '{test}', 1)` }, [
    programId,
  ]);
  const text = `
insert into integrations (id, program_id, environment, transport, status, descriptor, signing_secret, previous_signing_secret, pull_secret,
  pull_origin, created_at)
values ($1, $2, 'test', $3, 'draft', '{}', $4, $5, $6, $7, now())`;
  const origin = pull === null ? null : 'https://127.0.0.1:1025';
  await owner.query({ text }, [id, programId, transport, signing, previous, pull, origin]);
  return id;
}

async function stored(id: string): Promise<Stored> {
  const text = 'select signing_secret, previous_signing_secret, pull_secret from integrations where id = $1';
  const [row] = await database.query<Stored>({ text }, [id]);
  return row ?? expect.fail(`no integration ${id}`);
}

function start(current: number, ...accepted: number[]) {
  const { logger, logLines } = createReadLogger('integration');
  return { ...createReencryptSecrets({ database, encryption: under(current, ...accepted), logger }), logLines };
}

/** Resolves once the worker waits for a row that a test's transaction holds. */
async function untilItWaits(): Promise<void> {
  const text = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await expect.poll(async () => (await database.query({ text })).length).toBe(1);
}

async function counted(): Promise<Record<string, number>> {
  const metric = await metrics.getSingleMetric('laurel_encrypted_secrets')?.get();
  return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.key_version, value]) ?? []);
}

it('all secrets of an integration are re-encrypted under the current key', async () => {
  const pushed = await addIntegration('push_webhook', (id) => ({
    signing: under(2).encrypt('signs', secretOwner(id)),
    previous: under(1).encrypt('signed before', secretOwner(id)),
  }));
  const polled = await addIntegration('pull_poll', (id) => ({ pull: under(1).encrypt('token', pullSecretOwner(id)) }));
  const without = await addIntegration('sdk_direct');
  const signingBefore = (await stored(pushed)).signing_secret;
  const { runOnce } = start(2, 1);
  await runOnce();
  const { signing_secret: signing, previous_signing_secret: previous } = await stored(pushed);
  expect(signing).toEqual(signingBefore);
  expect(under(2).decrypt(previous ?? Buffer.of(), secretOwner(pushed))).toBe('signed before');
  expect(under(2).decrypt((await stored(polled)).pull_secret ?? Buffer.of(), pullSecretOwner(polled))).toBe('token');
  expect(await stored(without)).toEqual({ signing_secret: null, previous_signing_secret: null, pull_secret: null });
  expect(await counted()).toEqual({ 2: 3 });
});

it('a signing secret that is rotated during its re-encryption is never overwritten', async () => {
  const id = await addIntegration('push_webhook', (own) => ({ signing: under(1).encrypt('first', secretOwner(own)) }));
  const { runOnce } = start(2, 1);
  let running: Promise<void> | undefined;
  await database.transaction(async (tx) => {
    await rotateSigningSecret(tx, id, under(1).encrypt('second', secretOwner(id)));
    running = runOnce();
    await untilItWaits();
  });
  await running;
  const opened = async (version: number) => {
    const { signing_secret, previous_signing_secret } = await stored(id);
    return [signing_secret, previous_signing_secret].map((sealed) =>
      under(version).decrypt(sealed ?? Buffer.of(), secretOwner(id)),
    );
  };
  expect(await opened(1)).toEqual(['second', 'first']);
  await runOnce();
  expect(await opened(2)).toEqual(['second', 'first']);
});

it('a secret of polls that is replaced during its re-encryption is never overwritten', async () => {
  const id = await addIntegration('pull_poll', (own) => ({ pull: under(1).encrypt('first', pullSecretOwner(own)) }));
  const { runOnce } = start(2, 1);
  let running: Promise<void> | undefined;
  await database.transaction(async (tx) => {
    const text = 'update integrations set pull_secret = $2 where id = $1';
    await tx.query({ text }, [id, under(1).encrypt('second', pullSecretOwner(id))]);
    running = runOnce();
    await untilItWaits();
  });
  await running;
  const opened = async (version: number) =>
    under(version).decrypt((await stored(id)).pull_secret ?? Buffer.of(), pullSecretOwner(id));
  expect(await opened(1)).toBe('second');
  await runOnce();
  expect(await opened(2)).toBe('second');
});

it('a secret under a key that is not configured stays unchanged', async () => {
  const id = await addIntegration('push_webhook', (own) => ({ signing: under(1).encrypt('secret', secretOwner(own)) }));
  const before = await stored(id);
  const { runOnce, logLines } = start(3, 2);
  await runOnce();
  await runOnce();
  expect(await stored(id)).toEqual(before);
  expect(await counted()).toEqual({ 1: 1 });
  expect(logLines.filter((line) => line.includes('under a key that is not configured'))).toHaveLength(1);
});

it('a secret whose key is missing does not stop the re-encryption of the integration’s other secret', async () => {
  const id = await addIntegration('push_webhook', (own) => ({
    signing: under(2).encrypt('signs', secretOwner(own)),
    previous: under(1).encrypt('signed before', secretOwner(own)),
  }));
  const before = await stored(id);
  const { runOnce, logLines } = start(3, 2);
  await runOnce();
  await runOnce();
  const { signing_secret: signing, previous_signing_secret: previous } = await stored(id);
  expect(under(3).decrypt(signing ?? Buffer.of(), secretOwner(id))).toBe('signs');
  expect(previous).toEqual(before.previous_signing_secret);
  expect(await counted()).toEqual({ 1: 1, 3: 1 });
  expect(logLines.map((line) => JSON.parse(line).msg)).toEqual([
    'stored secrets were encrypted again',
    'stored secrets are encrypted under a key that is not configured',
  ]);
});

it('a damaged secret is logged once and does not stop the re-encryption of the others', async () => {
  const id = await addIntegration('push_webhook', (own) => ({
    signing: under(1).encrypt('signs', secretOwner(own)),
    previous: under(1).encrypt('signed before', secretOwner('another integration')),
  }));
  const { runOnce, logLines } = start(2, 1);
  await runOnce();
  await runOnce();
  expect(under(2).decrypt((await stored(id)).signing_secret ?? Buffer.of(), secretOwner(id))).toBe('signs');
  expect(await counted()).toEqual({ 1: 1, 2: 1 });
  expect(logLines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'a stored secret does not open with the configured keys', id },
    { msg: 'stored secrets were encrypted again', rows: 1 },
  ]);
});

it('a wrong key with the version of stored secrets is refused at the start', async () => {
  await addIntegration('push_webhook', (id) => ({
    signing: under(2).encrypt('signs', secretOwner(id)),
    previous: under(1).encrypt('signed before', secretOwner(id)),
  }));
  const verify = (current: ReturnType<typeof keyOf>) => {
    const { logger } = createReadLogger('integration');
    const encryption = createEncryption({ current, accepted: [] });
    return createReencryptSecrets({ database, encryption, logger }).verifyKeys();
  };
  for (const version of [1, 2]) {
    await expect(verify(keyOf(version))).resolves.toBeUndefined();
    await expect(verify({ version, bytes: Buffer.alloc(32, 99) })).rejects.toThrow(
      `under version ${version} of the key`,
    );
  }
});

it('an accepted key that decrypts no stored secret is refused, even if each integration also has a secret under the current key', async () => {
  await addIntegration('push_webhook', (id) => ({
    signing: under(2).encrypt('signs', secretOwner(id)),
    previous: under(1).encrypt('signed before', secretOwner(id)),
  }));
  const { logger } = createReadLogger('integration');
  const wrong = { version: 1, bytes: Buffer.alloc(32, 99) };
  const encryption = createEncryption({ current: keyOf(2), accepted: [wrong] });
  const { verifyKeys } = createReencryptSecrets({ database, encryption, logger });
  await expect(verifyKeys()).rejects.toThrow('no stored secret under version 1 of the key');
});
