import { refused } from '@laurel/errors';
import type { Logger } from '@laurel/service';
import type { Request, Response } from 'express';
import { describe, expect, test } from 'vitest';
import { contextOf, openContext, RequestContext } from '../http/context.ts';
import { type Answer, type AnyRoute, apiArea, replayedResult, V1_AREA } from '../http/route.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import { type KeyEnd, runRoute } from './run-route.ts';

const ROUTE: AnyRoute = {
  method: 'post',
  path: '/things/{thingId}',
  name: 'makeThing',
  summary: 'Make a thing',
  success: { status: 201, description: 'Made.' },
  action: 'make_thing',
};
const KEY_USE = { recordId: 'record', operationId: 'operation', fingerprint: 'aa' };
const KEY_LOCK = { recordId: 'record', operationId: 'operation', generation: 0 };
const FAILURE = new Error('a service is down');

/** Serves one request with this answer, and lists what happened, in order. */
async function serve(answer: () => Promise<Answer>, area: 'keyed' | 'logged' | 'neither') {
  const happened: string[] = [];
  const sent: { status?: number; headers?: Record<string, unknown>; body?: string | undefined } = {};
  const response = {
    writeHead(status: number, headers: Record<string, unknown>) {
      Object.assign(sent, { status, headers });
      return {
        end(body?: string) {
          sent.body = body;
          happened.push('sent');
        },
      };
    },
  } as unknown as Response;
  openContext(response, new RequestContext('request', 0));
  const end = (what: string) => async () => void happened.push(what);
  const keys = {
    idempotency: { complete: end('completed'), forget: end('forgotten'), release: end('released') },
    clock: () => new Date(),
  } as unknown as KeyEnd & { idempotency: Idempotency };
  const logger = { info: (line: { result: string }) => happened.push(`logged ${line.result}`) } as unknown as Logger;
  if (area === 'keyed') Object.assign(contextOf(response), { idempotencyUse: KEY_USE, idempotencyLock: KEY_LOCK });
  const around =
    area === 'keyed'
      ? { area: V1_AREA, keys }
      : { area: apiArea('portal'), ...(area === 'logged' && { changes: { logger, actor: 'developer' as const } }) };
  const handler = runRoute(ROUTE, answer, around);
  const run = Promise.resolve(handler({ params: {} } as Request, response, () => undefined));
  const failure = await run.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { happened, sent, failure, template: contextOf(response).routeTemplate };
}

const text = async () => '{"id":"1"}';
const object = async () => ({ body: { id: '1' } });
const nothing = async () => ({});
const again = async () => replayedResult('{"id":"1"}');
const refusal = async () => refused('not_found');
const limit = async () => ({ status: 429 as const, body: { error: 'Too many requests.' }, headers: {} });
const failing = async () => Promise.reject(FAILURE);
async function* pieces() {
  yield '[]';
}

describe('the end of a route', () => {
  test.each([
    ['text', text, ['completed', 'sent'], 201],
    ['an object', object, ['completed', 'sent'], 201],
    ['the answer of an earlier request', again, ['completed', 'sent'], 201],
    ['a refusal', refusal, ['forgotten', 'sent'], 404],
    ['a failure', failing, ['released'], undefined],
  ])('%s ends the idempotency lock exactly once, before the response', async (_what, answer, happened, status) => {
    const served = await serve(answer, 'keyed');
    expect(served.happened).toEqual(happened);
    expect(served.sent.status).toBe(status);
    expect(served.failure).toBe(status === undefined ? FAILURE : undefined);
  });

  test.each([
    ['text', text, ['logged done', 'sent']],
    ['an object', object, ['logged done', 'sent']],
    ['nothing', nothing, ['logged done', 'sent']],
    ['a refusal', refusal, ['logged not_found', 'sent']],
    ['a failure', failing, ['logged failed']],
  ])('%s of a change writes one log line, before the response', async (_what, answer, happened) => {
    expect((await serve(answer, 'logged')).happened).toEqual(happened);
  });

  test.each([
    ['text', text, 201, '{"id":"1"}'],
    ['an object', object, 201, '{"id":"1"}'],
    ['nothing', nothing, 201, undefined],
    ['a limit', limit, 429, '{"error":"Too many requests."}'],
  ])('%s is sent unchanged, with its status', async (_what, answer, status, body) => {
    for (const area of ['neither', 'logged'] as const) {
      const { sent, template } = await serve(answer, area);
      expect(sent).toMatchObject({ status, ...(body !== undefined && { body }) });
      expect(sent.body).toBe(body);
      expect(template).toBe('/api/portal/things/{thingId}');
    }
  });

  test('only the response to an earlier request is marked as replayed', async () => {
    const marks = await Promise.all([again, text].map(async (answer) => (await serve(answer, 'keyed')).sent.headers));
    expect(marks.map((headers) => headers?.['Idempotency-Replayed'])).toEqual(['true', undefined]);
  });

  test('a streamed response to a request with an idempotency key is refused', async () => {
    const { happened, failure } = await serve(async () => pieces(), 'keyed');
    expect(failure).toEqual(new Error('a route with an idempotency key must answer one text'));
    expect(happened).toEqual([]);
  });
});
