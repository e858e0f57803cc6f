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
import { documentationRouter } from './documentation.ts';

let folder: string;
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'laurel-site-'));
  mkdirSync(join(folder, 'assets', 'chunks'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), '<h1>Start</h1>');
  writeFileSync(join(folder, 'errors.html'), '<h1>Errors</h1>');
  writeFileSync(join(folder, '.built-from'), 'inputs');
  writeFileSync(join(folder, 'assets', 'app.4711.js'), 'start();');
  writeFileSync(join(folder, 'assets', 'chunks', 'search.4711.js'), 'search();');
});
afterEach(async () => {
  await new Promise((closed) => (server === undefined ? closed(undefined) : server.close(closed)));
  server = undefined;
  rmSync(folder, { recursive: true });
});

test.each([
  ['/docs/', '<h1>Start</h1>', 'no-cache'],
  ['/docs/errors', '<h1>Errors</h1>', 'no-cache'],
  ['/docs/assets/app.4711.js', 'start();', 'public, max-age=31536000, immutable'],
  ['/docs/assets/chunks/search.4711.js', 'search();', 'public, max-age=31536000, immutable'],
])('%s is a file of the site, and its content security policy has no exceptions', async (path, text, cached) => {
  const answer = await get(path);
  expect([answer.status, await answer.text()]).toEqual([200, text]);
  expect(answer.headers.get('cache-control')).toBe(cached);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('content-security-policy')).toBe(
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});

test('/docs leads to the first page of the site', async () => {
  const answer = await get('/docs');
  expect([answer.status, answer.headers.get('location')]).toEqual([308, '/docs/']);
});

test.each([
  '/docs/nothing',
  '/docs/.built-from',
  '/docs/assets',
  '/docs/assets/',
  '/docs/%2e%2e/%2e%2e/etc/passwd',
  '/docs/errors/',
])('%s is an unknown path', async (path) => {
  expect((await get(path)).status).toBe(404);
});

test('a page that the browser has cached is answered with 304', async () => {
  const tag = (await get('/docs/errors')).headers.get('etag') ?? '';
  expect((await get('/docs/errors', { headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' } })).status).toBe(
    304,
  );
});

test('/docs is an unknown path if no site was built', async () => {
  await start(undefined);
  const answers = await Promise.all(['/docs', '/docs/', '/docs/errors', '/openapi.json'].map((path) => get(path)));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 200]);
});

test('a site that is built after the start is served', async () => {
  rmSync(join(folder, 'errors.html'));
  expect((await get('/docs/errors')).status).toBe(404);
  writeFileSync(join(folder, 'errors.html'), '<h1>Errors</h1>');
  expect((await get('/docs/errors')).status).toBe(200);
});

test('the gateway answers other requests while it builds the documents', async () => {
  await start(folder);
  const answered: string[] = [];
  const asked = ['/openapi.json', '/docs'].map(async (path) => {
    await get(path);
    answered.push(path);
  });
  await Promise.all(asked);
  expect(answered).toEqual(['/docs', '/openapi.json']);
});

async function get(path: string, init: RequestInit = {}): Promise<Response> {
  const running = server ?? (await start(folder));
  const { port } = running.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
}

async function start(siteFolder: string | undefined): Promise<Server> {
  const app = express().use(
    assignRequestId(createQuietLogger('gateway'), undefined),
    documentationRouter(siteFolder),
    answerNotFound,
  );
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
