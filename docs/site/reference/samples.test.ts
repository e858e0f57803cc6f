import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jsonOf, parseDocument, type Route, routesOf } from './document.ts';
import { curlSample, sdkSample } from './samples.ts';

const ROUTES = routesOf(parseDocument(readFileSync(new URL('../../openapi/partner-v1.yaml', import.meta.url), 'utf8')));
const V1 = ROUTES.filter(({ path }) => path.startsWith('/v1/'));
const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;

test('every route of /v1 has a call of the SDK, and no two share one', () => {
  const calls = V1.map((route) => /await laurel\.([\w.]+)\(/.exec(sdkSample(route) ?? '')?.[1]);
  expect(V1.length).toBeGreaterThan(10);
  expect(calls).not.toContain(undefined);
  expect(new Set(calls).size).toBe(V1.length);
});

test('a route of /v1 that has no call of the SDK yet is refused', () => {
  const route: Route = { method: 'get', path: '/v1/news', operation: { operationId: 'news', responses: {} } };
  expect(() => sdkSample(route)).toThrow('the reference has no call of the SDK for GET /v1/news');
});

test('a route outside of /v1 is shown only in curl', () => {
  const route = ROUTES.find(({ path }) => path.startsWith('/.well-known/'));
  expect(route && sdkSample(route)).toBeUndefined();
  expect(route && curlSample(route)).not.toContain('X-API-Key');
});

test.each(V1.map((route) => [nameOf(route), route] as const))(
  'a shell reads the curl sample of %s as its method, its path, its key and the example of its body',
  (_name, route) => {
    const script = `curl() { printf '%s\\0' "$@"; }\n${curlSample(route)}`;
    const env = { BASE: 'http://host', KEY: 'sk_test_1' };
    const words = execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).split('\0');
    const valueAfter = (option: string) => words[words.indexOf(option) + 1];
    const body = jsonOf(route.operation.requestBody)?.examples[0]?.[1].value;
    const url = new URL(words.find((word) => word.startsWith('http://host/')) ?? '');

    expect(url.pathname.split('/').length).toBe(route.path.split('/').length);
    expect(url.pathname).not.toContain('{');
    expect(words).toContain('X-API-Key: sk_test_1');
    const method = words.includes('-X') ? valueAfter('-X') : words.includes('-d') ? 'POST' : 'GET';
    expect(method).toBe(route.method.toUpperCase());
    if (body !== undefined) expect(JSON.parse(valueAfter('-d') ?? '')).toEqual(body);
    const wantsKey = route.operation.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false;
    expect(words.some((word) => word.startsWith('Idempotency-Key: '))).toBe(wantsKey);
  },
);
