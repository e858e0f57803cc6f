import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandError } from './command.ts';
import { createClient, fetchPage, UnavailableError } from './sandbox-events.ts';

const KEY = `sk_test_${'0'.repeat(49)}`;
const JSON_TYPE = { 'content-type': 'application/json' };

let answer: (response: ServerResponse) => void;
const server = createServer((_, response) => answer(response));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

/** The failure of a page with this response. */
async function failureOf(status: number, headers: Record<string, string>, body: string): Promise<unknown> {
  answer = (response) => response.writeHead(status, headers).end(body);
  const laurel = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, KEY);
  return await fetchPage(laurel, { from: 'oldest' }, new AbortController().signal).catch((error) => error);
}

describe('a page of the sandbox’s events', () => {
  it('the command waits after a response that Laurel did not write, whatever the status', async () => {
    for (const [status, headers, body] of [
      [200, { 'content-type': 'text/html' }, '<h1>Sign in to this network</h1>'],
      [200, JSON_TYPE, '{}'],
      [200, JSON_TYPE, 'null'],
      [200, JSON_TYPE, '{"data":[null],"next_cursor":"c"}'],
      [200, JSON_TYPE, '{"data":[{"id":"e","event":"attempt.settled","body":"{}"}],"next_cursor":"c"}'],
      [200, JSON_TYPE, '{"data":[{"id":1,"event":"attempt.settled","body":"{}","cursor":"c"}],"next_cursor":"c"}'],
      [200, JSON_TYPE, '{"data":[],"next_cursor":""}'],
      [302, { location: 'https://login.example.com/' }, ''],
      [404, { 'content-type': 'text/html' }, '<h1>Not Found</h1>'],
      [404, JSON_TYPE, '{"message":"no route"}'],
      [503, { 'content-type': 'text/html', 'retry-after': '86400' }, '<h1>No healthy upstream</h1>'],
    ] as const) {
      const failure = await failureOf(status, headers, body);
      expect([body, failure]).toEqual([body, expect.any(UnavailableError)]);
      expect(failure).toMatchObject({
        message: expect.stringContaining('is LAUREL_BASE_URL right?'),
        retryAfterMs: null,
      });
    }
  });

  it('the command exits with 1 after a refusal and waits after an error of Laurel', async () => {
    const envelope = (code: string) => JSON.stringify({ error: { code, message: 'No.' } });
    for (const [status, code] of [
      [400, 'invalid_request'],
      [401, 'unauthorized'],
    ] as const) {
      const refused = await failureOf(status, JSON_TYPE, envelope(code));
      expect(refused).toBeInstanceOf(CommandError);
      expect(refused).toMatchObject({ exitCode: 1, message: expect.stringContaining(`refused with ${status}`) });
    }
    const limit = await failureOf(429, { ...JSON_TYPE, 'retry-after': '7' }, '{"error":"Too many requests."}');
    expect(limit).toBeInstanceOf(UnavailableError);
    expect(limit).toMatchObject({ message: 'Laurel answered 429', retryAfterMs: 7_000 });
    expect(await failureOf(500, JSON_TYPE, envelope('internal_error'))).toMatchObject({
      message: 'Laurel answered 500',
    });
  });
});
