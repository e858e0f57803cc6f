import { counter } from '@laurel/telemetry';
import { expect, test } from 'vitest';
import { type Readiness, startAdminServer } from './admin-server.ts';

test('the admin server answers liveness, readiness and metrics, and stops', async () => {
  let ready: () => boolean | Promise<boolean> = () => true;
  let now = 0;
  const server = await startAdminServer({ host: '127.0.0.1', port: 0, isReady: () => ready(), now: () => now });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, body: await response.text() };
  };

  expect(await get('/healthz')).toEqual({ status: 200, body: 'ok' });
  expect(await get('/readyz')).toEqual({ status: 200, body: 'ready' });
  ready = async () => false;
  now += 1_000;
  expect(await get('/readyz')).toEqual({ status: 503, body: 'not ready' });
  ready = () => {
    throw new Error('database gone');
  };
  now += 250;
  expect(await get('/readyz')).toEqual({ status: 503, body: 'not ready' });
  expect(await get('/healthz')).toEqual({ status: 200, body: 'ok' });
  expect((await get('/else')).status).toBe(404);

  counter('laurel_admin_test_total', 'For this test.').inc();
  const page = await get('/metrics');
  expect(page.status).toBe(200);
  expect(page.body).toContain('laurel_admin_test_total 1');

  await server[Symbol.asyncDispose]();
  await expect(get('/healthz')).rejects.toThrow();
});

test('/readyz/dependencies reports the replica and the services that it calls', async () => {
  const own: string[] = [];
  const called: string[] = [];
  let isServing = true;
  let now = 0;
  const options = { host: '127.0.0.1', port: 0, isReady: () => ({ missing: own }), now: () => now };
  await using alone = await startAdminServer(options);
  await using server = await startAdminServer({
    ...options,
    isServing: () => isServing,
    dependencies: async () => ({ missing: called }),
  });
  const get = async ({ port }: { port: number }, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, await response.text()];
  };
  const look = async () => [await get(server, '/readyz'), await get(server, '/readyz/dependencies')];

  expect(await get(alone, '/readyz/dependencies')).toEqual([404, 'not found']);
  expect(await look()).toEqual([
    [200, 'ready'],
    [200, 'ready'],
  ]);
  called.push('challenge');
  now += 1_000;
  expect(await look()).toEqual([
    [200, 'ready'],
    [503, 'not ready: challenge'],
  ]);
  own.push('database');
  now += 1_000;
  expect(await look()).toEqual([
    [503, 'not ready: database'],
    [503, 'not ready: database, challenge'],
  ]);
  own.pop();
  called.pop();
  now += 1_000;
  isServing = false;
  expect(await look()).toEqual([
    [503, 'not ready'],
    [503, 'not ready'],
  ]);
});

test('concurrent probes share one readiness check', async () => {
  const looks: ((readiness: Readiness) => void)[] = [];
  let now = 0;
  let isServing = true;
  await using server = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    isReady: () => new Promise((resolve) => looks.push(resolve)),
    isServing: () => isServing,
    now: () => now,
  });
  const probe = async () => (await fetch(`http://127.0.0.1:${server.port}/readyz`)).text();
  /** Resolves the readiness check that these probes share. */
  const probes = async (count: number, readiness: Readiness) => {
    const before = looks.length;
    const answers = Promise.all(Array.from({ length: count }, probe));
    await expect.poll(() => looks.length).toBe(before + 1);
    looks.at(-1)?.(readiness);
    return await answers;
  };

  expect(await probes(20, { missing: ['wallet', 'challenge'] })).toEqual(
    Array<string>(20).fill('not ready: wallet, challenge'),
  );
  now = 249;
  expect(await probe()).toBe('not ready: wallet, challenge');
  now = 250;
  expect(await probes(1, { missing: [] })).toEqual(['ready']);
  now = 1_249;
  expect(await Promise.all([probe(), probe()])).toEqual(['ready', 'ready']);
  expect(looks).toHaveLength(2);

  isServing = false;
  expect(await probe()).toBe('not ready');
  isServing = true;
  now = 1_250;
  expect(await probes(1, true)).toEqual(['ready']);
});
