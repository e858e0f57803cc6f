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
import { portalPages } from './portal-pages.ts';

let folder: string;
let server: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'laurel-portal-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<div id="app"></div>');
  writeFileSync(join(folder, '.built-from'), 'inputs');
  writeFileSync(join(folder, 'assets', 'index-4711.js'), 'start();');
  const app = express().use(
    assignRequestId(createQuietLogger('gateway'), undefined),
    portalPages(folder),
    answerNotFound,
  );
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true });
});

test.each(['/portal', '/portal/', '/portal/sign-in', '/portal/p/0198/test/attempts/0198?status=open'])(
  '%s is the page, under a policy without exceptions, and a browser asks for it again',
  async (path) => {
    const answer = await get(path);
    expect([answer.status, await answer.text()]).toEqual([200, '<div id="app"></div>']);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(answer.headers.get('permissions-policy')).toContain('camera=()');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  },
);

test('a script is kept by a browser as its name allows', async () => {
  const answer = await get('/portal/assets/index-4711.js');
  expect([answer.status, await answer.text()]).toEqual([200, 'start();']);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

test('a page that a browser has cached is not sent again', async () => {
  const tag = (await get('/portal/programs')).headers.get('etag') ?? '';
  const again = await get('/portal/programs', { headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' } });
  expect(again.status).toBe(304);
});

test.each(['/portals', '/portal/assets/index-0815.js', '/portal/assets/', '/portal/%2e%2e/%2e%2e/etc/passwd'])(
  '%s is an unknown path',
  async (path) => {
    const { status, headers } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([404, expect.stringContaining('application/json')]);
  },
);

test('only reading has an answer', async () => {
  expect((await get('/portal/programs', { method: 'POST' })).status).toBe(404);
});

test('the page is served from when it is built', async () => {
  rmSync(join(folder, 'index.html'));
  expect((await get('/portal/programs')).status).toBe(404);
  writeFileSync(join(folder, 'index.html'), '<p>built</p>');
  expect(await (await get('/portal/programs')).text()).toBe('<p>built</p>');
});

function get(path: string, init: RequestInit = {}): Promise<Response> {
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
}
