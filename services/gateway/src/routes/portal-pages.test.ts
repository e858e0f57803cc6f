import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createQuietLogger } from '@laurel/testing';
import express from 'express';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerNotFound } from '../http/errors.ts';
import { assignRequestId } from '../http/request-id.ts';
import { servePages } from './portal-pages.ts';

let folder: string;
let server: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'laurel-portal-'));
  for (const pages of ['portal', 'operator']) {
    mkdirSync(join(folder, pages, 'assets'), { recursive: true });
    writeFileSync(join(folder, pages, 'index.html'), `<div id="app">${pages}</div>`);
    writeFileSync(join(folder, pages, 'assets', 'index-4711.js'), `start('${pages}');`);
  }
  writeFileSync(join(folder, '.built-from'), 'inputs');
  const app = express().use(
    assignRequestId(createQuietLogger('gateway'), undefined),
    servePages('portal', join(folder, 'portal')),
    servePages('operator', join(folder, 'operator')),
    answerNotFound,
  );
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true });
});

test.each([
  ['/portal', 'portal'],
  ['/portal/', 'portal'],
  ['/portal/sign-in', 'portal'],
  ['/portal/p/0198/test/attempts/0198?status=open', 'portal'],
  ['/operator', 'operator'],
  ['/operator/', 'operator'],
  ['/operator/programs/0198', 'operator'],
])('%s is the page of the %s, and its content security policy has no exceptions', async (path, pages) => {
  const answer = await get(path);
  expect([answer.status, await answer.text()]).toEqual([200, `<div id="app">${pages}</div>`]);
  expect(answer.headers.get('cache-control')).toBe('no-cache');
  expect(answer.headers.get('content-security-policy')).toBe(
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  );
  expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(answer.headers.get('permissions-policy')).toContain('camera=()');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test.each(['portal', 'operator'])(
  'browsers may keep a script of the %s permanently, because its name contains its hash',
  async (pages) => {
    const answer = await get(`/${pages}/assets/index-4711.js`);
    expect([answer.status, await answer.text()]).toEqual([200, `start('${pages}');`]);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  },
);

test('a page that a browser has cached is not sent again', async () => {
  const tag = (await get('/portal/programs')).headers.get('etag') ?? '';
  const again = await get('/portal/programs', { headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' } });
  expect(again.status).toBe(304);
});

test.each([
  '/portals',
  '/portal/assets/index-0815.js',
  '/portal/assets/',
  '/portal/%2e%2e/%2e%2e/etc/passwd',
  '/operators',
  '/operator/assets/index-0815.js',
  '/operator/assets/',
])('%s is an unknown path', async (path) => {
  const { status, headers } = await get(path);
  expect([status, headers.get('content-type')]).toEqual([404, expect.stringContaining('application/json')]);
});

test('a POST to the path of a page is answered 404', async () => {
  expect((await get('/portal/programs', { method: 'POST' })).status).toBe(404);
});

test('a page is served as soon as it is built', async () => {
  rmSync(join(folder, 'portal', 'index.html'));
  expect((await get('/portal/programs')).status).toBe(404);
  writeFileSync(join(folder, 'portal', 'index.html'), '<p>built</p>');
  expect(await (await get('/portal/programs')).text()).toBe('<p>built</p>');
});

function get(path: string, init: RequestInit = {}): Promise<Response> {
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
}
