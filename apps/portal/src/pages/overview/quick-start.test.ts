import { expect, test } from 'vitest';
import type { OverviewFirstSteps } from '../../api/api-types.ts';
import { isComplete, playerRefOf, stepsOf } from './quick-start.ts';

const AT = '2026-11-21T12:00:00.000Z';
const NONE: OverviewFirstSteps = {
  key_used_at: null,
  player_linked_at: null,
  attempt_created_at: null,
  outcome_reported_at: null,
  endpoint_created_at: null,
  webhook_delivered_at: null,
};
const ALL: OverviewFirstSteps = {
  key_used_at: AT,
  player_linked_at: AT,
  attempt_created_at: AT,
  outcome_reported_at: AT,
  endpoint_created_at: AT,
  webhook_delivered_at: AT,
};
const NOTHING_SEEN = { hasAttempt: false, hasSettled: false };

const doneOf = (...[first, seen]: Parameters<typeof stepsOf>) =>
  stepsOf(first, seen)
    .filter(({ isDone }) => isDone)
    .map(({ name }) => name);

test('a step is done if the overview has a time for it', () => {
  expect(doneOf(NONE, NOTHING_SEEN)).toEqual([]);
  expect(stepsOf(ALL, NOTHING_SEEN).every(({ isDone, at }) => isDone && at === AT)).toBe(true);
  expect(doneOf({ ...NONE, key_used_at: AT, endpoint_created_at: AT }, NOTHING_SEEN)).toEqual(['key', 'endpoint']);
  expect([isComplete(ALL), isComplete({ ...ALL, webhook_delivered_at: null })]).toEqual([true, false]);
});

test('an attempt in the sandbox console completes the steps before it without a time', () => {
  expect(doneOf(NONE, { hasAttempt: true, hasSettled: false })).toEqual(['player', 'attempt']);
  expect(doneOf(NONE, { hasAttempt: true, hasSettled: true })).toEqual(['player', 'attempt', 'outcome']);
  expect(stepsOf(NONE, { hasAttempt: true, hasSettled: true })[1]).toEqual({ name: 'player', isDone: true, at: null });
});

test('the sample of the next call names the player of a logged link unless the log redacted that name', () => {
  expect(playerRefOf('{"player_ref":"a\\"b","linked":true}')).toBe('a"b');
  for (const body of [null, '{"linked":true}', '{"player_ref":"[redacted]"}', '{"player_ref":"cut']) {
    expect(playerRefOf(body)).toBeUndefined();
  }
});
