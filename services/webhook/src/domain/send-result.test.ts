import { describe, expect, test } from 'vitest';
import { decideResult, ERROR_SENTENCES } from './send-result.ts';

const ENDED_AT = new Date('2026-03-04T05:06:07.089Z');
const DELAYS = [60_000, 300_000] as const;
const answer = (status: number, body = '') => ({ kind: 'answer', status, body: Buffer.from(body) }) as const;

describe('the result of a send', () => {
  test.each([200, 201, 204, 299])('a send whose response is %i is a success', (status) => {
    expect(decideResult(answer(status, 'thanks'), 1, ENDED_AT, DELAYS)).toEqual({
      httpStatus: status,
      error: null,
      responseExcerpt: 'thanks',
      nextSendAt: null,
    });
  });

  test.each([
    [300, 'http_3xx'],
    [304, 'http_3xx'],
    [399, 'http_3xx'],
    [400, 'http_4xx'],
    [410, 'http_4xx'],
    [429, 'http_4xx'],
    [499, 'http_4xx'],
    [500, 'http_5xx'],
    [599, 'http_5xx'],
  ] as const)('a send whose response is %i is the failure %s, and the next one is due in a minute', (status, kind) => {
    expect(decideResult(answer(status), 1, ENDED_AT, DELAYS)).toEqual({
      httpStatus: status,
      error: { kind, sentence: ERROR_SENTENCES[kind] },
      responseExcerpt: '',
      nextSendAt: new Date('2026-03-04T05:07:07.089Z'),
    });
  });

  test('a send without a response is recorded without a status or an excerpt', () => {
    const end = { kind: 'failure', error: 'timeout', sentence: 'No answer came in time.' } as const;
    expect(decideResult(end, 3, ENDED_AT, DELAYS)).toEqual({
      httpStatus: null,
      error: { kind: 'timeout', sentence: 'No answer came in time.' },
      responseExcerpt: null,
      nextSendAt: null,
    });
  });
});

test.each(Object.values(ERROR_SENTENCES))(
  'why a send failed is a sentence without addresses and ports: %s',
  (sentence) => {
    expect(sentence).toMatch(/^[A-Z][A-Za-z0-9 ,;/.-]+\.$/);
  },
);
