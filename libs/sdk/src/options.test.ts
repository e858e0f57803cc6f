import { afterEach, expect, test, vi } from 'vitest';
import { checkOptions } from './options.ts';

const TEST_KEY = `sk_test_${'a'.repeat(49)}`;
const LIVE_KEY = `sk_live_${'a'.repeat(49)}`;
const URL_OF_HOST = 'https://api.example.com';

const check = (options: Partial<Parameters<typeof checkOptions>[0]>) =>
  checkOptions({ apiKey: TEST_KEY, baseUrl: URL_OF_HOST, ...options });

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['https://api.example.com/v1', 'https://api.example.com'],
  ['https://api.example.com/v1/', 'https://api.example.com'],
  ['https://example.com:8443/laurel/v1', 'https://example.com:8443/laurel'],
])('the address %s is that of the host %s', (given, host) => {
  expect(check({ baseUrl: given }).baseUrl).toBe(host);
});

test.each([
  undefined,
  '',
  'api.example.com',
  'ftp://api.example.com',
  'https://user:pw@example.com',
  'https://example.com/?a=1',
])('the address %s is refused', (baseUrl) => {
  expect(() => check({ baseUrl: baseUrl as string })).toThrow(TypeError);
});

test.each([
  undefined,
  '',
  'sk_test_',
  'pk_test_aaaaaaaaaaaaaaaaaaaaaaaaa',
  ` ${TEST_KEY}`,
  `${TEST_KEY}\n`,
  'Bearer x',
])('the API key %j is refused, and no message shows it', (apiKey) => {
  expect(() => check({ apiKey: apiKey as string })).toThrow(/^apiKey is not a key of Laurel: ((?!aaaa|Bearer).)*$/);
});

test('a live key is sent over plain HTTP only to this machine', () => {
  expect(() => check({ apiKey: LIVE_KEY, baseUrl: 'http://api.example.com' })).toThrow(/https:/);
  expect(check({ apiKey: TEST_KEY, baseUrl: 'http://gateway:8080' }).baseUrl).toBe('http://gateway:8080');
  for (const host of ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080']) {
    expect(check({ apiKey: LIVE_KEY, baseUrl: `http://${host}` }).baseUrl).toBe(`http://${host}`);
  }
});

test.each([
  { timeoutMs: 0 },
  { timeoutMs: 1.5 },
  { deadlineMs: 2 ** 31 },
  { deadlineMs: 12 * 3_600_000 + 1 },
  { maxRetries: -1 },
  { maxRetries: Number.NaN },
])('%j is refused', (numbers) => {
  expect(() => check(numbers)).toThrow(TypeError);
});

test('the deadline of a call may be half of the time for which Laurel keeps idempotency keys', () => {
  expect(check({ deadlineMs: 12 * 3_600_000 }).deadlineMs).toBe(43_200_000);
});

test('the client refuses a runtime that has both a window and a document', () => {
  vi.stubGlobal('window', globalThis);
  expect(check({}).maxRetries).toBe(8);
  vi.stubGlobal('document', {});
  expect(() => check({})).toThrow(/for servers/);
});

test('an option of the wrong type is refused', () => {
  for (const wrong of [[URL_OF_HOST], new URL(URL_OF_HOST), Object(URL_OF_HOST), null, 5])
    expect(() => check({ baseUrl: wrong as string })).toThrow(TypeError);
  for (const wrong of [[TEST_KEY], Object(TEST_KEY), null])
    expect(() => check({ apiKey: wrong as string })).toThrow(TypeError);
  for (const wrong of [null, '5', [5], Object(5)]) {
    expect(() => check({ timeoutMs: wrong as number })).toThrow(TypeError);
    expect(() => check({ maxRetries: wrong as number })).toThrow(TypeError);
  }
});
