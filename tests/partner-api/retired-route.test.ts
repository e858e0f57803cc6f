import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';

describe('POST /api/attempts/{id}/outcome (retired)', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each([
    ['without anything', randomUUID(), {}],
    ['with a body', randomUUID(), { body: { score: 1 } }],
    ['with bad JSON', randomUUID(), { raw: '{' }],
    ['with a malformed id', 'nonsense', {}],
    ['with a key', randomUUID(), { headers: { 'x-api-key': 'sk_test_nonsense' } }],
  ])('answers 410 %s', async (_what, id, options) => {
    const answer = await world.http.send('POST', `/api/attempts/${id}/outcome`, options);
    expect(answer.status).toBe(410);
    expect(answer.body).toEqual({ error: expect.stringMatching(/\S/), code: 'client_reporting_removed' });
  });
});
