import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { expectError, joinWorld, type SharedWorld } from '../world.ts';

/** A cursor of the list of payouts in the operator API's encoding. */
const wrapped = (instant: string) => Buffer.from(JSON.stringify([instant, randomUUID()])).toString('base64url');

describe('cursors of the operator API', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each([
    '2026-02-31T00:00:00.000Z',
    '300000-01-01T00:00:00.000Z',
    '+275000-11-21T12:00:00.000Z',
    '-000001-01-01T00:00:00.000Z',
    '0000-01-01T00:00:00.000Z',
    'infinity',
    'x',
  ])('a cursor with the impossible instant %s is a 400', async (instant) => {
    expectError(400, 'invalid_request', await world.operator.listPayouts(`held&cursor=${wrapped(instant)}`));
  });
});
