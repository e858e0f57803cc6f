import { describe, expect, test } from 'vitest';
import type { Answer, HttpClient, SendOptions } from './http-client.ts';
import { createPartner } from './partner.ts';

const KEY = `sk_test_${'k'.repeat(32)}`;
const HEADERS = { 'x-request-id': 'request', 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '599' };

/** A response as the HTTP client returns it; `changes` can make it contradict itself. */
function answerOf(status: number, body: unknown, changes: Partial<Answer<unknown>> = {}): Answer<unknown> {
  const { error } = (body ?? {}) as { error?: { code?: string } };
  const text = body === undefined ? '' : JSON.stringify(body);
  return { status, headers: HEADERS, text, body, code: error?.code, ...changes };
}

/** A partner whose every request gets this response. */
function partnerOf(answer: Answer<unknown> | Promise<never>) {
  const sent: { method: string; path: string; options: SendOptions | undefined }[] = [];
  const http: HttpClient = {
    journal: [],
    send: async <Body>(method: string, path: string, options?: SendOptions) => {
      sent.push({ method, path, options });
      return (await answer) as Answer<Body>;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { sent, partner: createPartner(http, KEY) };
}

const REPORT = ['a', { score: 1.5 }, 'key'] as const;

describe('a call of a partner', () => {
  test('a call is sent once as the SDK writes it', async () => {
    const headers = { ...HEADERS, 'idempotency-replayed': 'true' };
    const received = answerOf(200, { attempt_id: 'a', score: 1.5 }, { headers });
    const { sent, partner } = partnerOf(received);
    expect(await partner.reportOutcome(...REPORT)).toBe(received);
    expect(sent).toEqual([
      {
        method: 'POST',
        path: '/v1/attempts/a/outcome',
        options: {
          headers: expect.objectContaining({ 'x-api-key': KEY, 'idempotency-key': 'key' }),
          raw: '{"score":1.5}',
        },
      },
    ]);
  });

  test.each([
    ['a refusal', answerOf(422, { error: { code: 'score_out_of_range', message: 'no', details: { field: 'score' } } })],
    ['a refusal of the rate limit', answerOf(429, { error: 'rate_limited', retry_after: 7 })],
    ['an answer that is not of the API', answerOf(502, undefined, { text: '<html>', headers: {} })],
    ['a lost connection', answerOf(0, undefined, { headers: {} })],
  ])('%s is returned unchanged', async (_what, received) => {
    const { sent, partner } = partnerOf(received);
    expect(await partner.reportOutcome(...REPORT)).toBe(received);
    expect(sent).toHaveLength(1);
  });

  test('a response without a body is returned unchanged', async () => {
    const received = answerOf(204, undefined);
    expect(await partnerOf(received).partner.holdNextAward('a')).toBe(received);
  });

  test.each([
    ['a body', answerOf(200, { score: 1.5 }, { body: { score: 1.25 } })],
    ['a success', answerOf(204, undefined)],
    ['a code', answerOf(404, { error: { code: 'not_found', message: 'no' } }, { code: 'conflict' })],
    ['details', answerOf(404, { error: { code: 'not_found', message: 'no', details: { a: 1 } } }, { body: {} })],
  ])('the call fails on %s about which the SDK and the HTTP client disagree', async (_what, received) => {
    await expect(partnerOf(received).partner.reportOutcome(...REPORT)).rejects.toThrow('the SDK disagrees');
  });

  test('arguments that the SDK refuses are not sent', async () => {
    const { sent, partner } = partnerOf(answerOf(200, {}));
    await expect(partner.reportOutcome('', { score: 1 })).rejects.toThrow(TypeError);
    await expect(partner.createAttempt({ challenge_id: 'a', player_ref: 'b' }, ' ')).rejects.toThrow(TypeError);
    expect(sent).toEqual([]);
  });

  test('the caller gets the error that the check of a response throws', async () => {
    const failure = new Error('against the contract');
    await expect(partnerOf(Promise.reject(failure)).partner.listTournaments()).rejects.toBe(failure);
  });
});
