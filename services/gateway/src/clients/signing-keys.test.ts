import { describe, expect, test } from 'vitest';
import { createSigningKeys } from './signing-keys.ts';

type SigningKey = { keyId: string; publicKey: Buffer; from: Date | undefined; until: Date | undefined };

const keyOf = (keyId: string, from = 1): SigningKey => ({
  keyId,
  publicKey: Buffer.from(keyId),
  from: new Date(from),
  until: undefined,
});

/** Two services that return what the test sets, and a count of their calls. */
function start() {
  const on = {
    now: 0,
    asked: 0,
    first: [keyOf('a')] as SigningKey[] | Error,
    second: [keyOf('b')] as SigningKey[] | Error,
  };
  const service = (name: 'first' | 'second') => ({
    async listSigningKeys() {
      on.asked += 1;
      const answer = on[name];
      if (answer instanceof Error) throw answer;
      return { keys: answer };
    },
  });
  const keys = createSigningKeys([service('first'), service('second')], () => on.now);
  const ids = async () => (await keys.read()).map(({ keyId }) => keyId);
  return { on, keys, ids };
}

describe('signing keys of the services', () => {
  test('signing keys are requested at most once a second, however many callers read them', async () => {
    const { on, ids } = start();
    const many = await Promise.all(Array.from({ length: 50 }, ids));
    expect(many).toEqual(Array.from({ length: 50 }, () => ['a', 'b']));
    expect(on.asked).toBe(2);
    on.first = [keyOf('a'), keyOf('c', 2)];
    on.now = 999;
    expect(await ids()).toEqual(['a', 'b']);
    on.now = 1_000;
    expect(await ids()).toEqual(['a', 'b', 'c']);
    expect(on.asked).toBe(4);
  });

  test('the signing keys of a service that is down stay listed', async () => {
    const { on, ids } = start();
    await ids();
    on.second = new Error('away');
    on.first = [keyOf('a'), keyOf('c', 2)];
    on.now = 1_000;
    expect(await ids()).toEqual(['a', 'b', 'c']);
  });

  test('no signing keys are listed before every service has answered once', async () => {
    const { on, ids } = start();
    on.second = new Error('away');
    await expect(ids()).rejects.toThrow('away');
    await expect(ids()).rejects.toThrow('away');
    expect(on.asked).toBe(2);
    on.second = [keyOf('b')];
    on.now = 1_000;
    expect(await ids()).toEqual(['a', 'b']);
  });

  test('signing keys without the instant of their first use are refused', async () => {
    const { on, ids } = start();
    on.first = [{ ...keyOf('a'), from: undefined }];
    await expect(ids()).rejects.toThrow('left out');
  });
});
