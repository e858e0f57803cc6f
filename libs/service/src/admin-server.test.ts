import { counter } from '@laurel/telemetry';
import { expect, test } from 'vitest';
import { startAdminServer } from './admin-server.ts';

test('the admin server tells liveness, readiness and metrics, and stops', async () => {
  let ready: () => boolean | Promise<boolean> = () => true;
  const server = await startAdminServer({ host: '127.0.0.1', port: 0, isReady: () => ready() });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, body: await response.text() };
  };

  expect(await get('/healthz')).toEqual({ status: 200, body: 'ok' });
  expect(await get('/readyz')).toEqual({ status: 200, body: 'ready' });
  ready = async () => false;
  expect(await get('/readyz')).toEqual({ status: 503, body: 'not ready' });
  ready = () => {
    throw new Error('database gone');
  };
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
