/**
 * The codes of docs/contract/partner-api.md, "In the browser", and which responses mean that
 * nothing was charged.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { STATUS_OF_CODE } from './closed-sets.ts';
import { errorOfAnswer, isRefusal, type LibraryErrorCode } from './errors.ts';

const GUIDE = readFileSync(new URL('../../../docs/contract/partner-api.md', import.meta.url), 'utf8');

/** Every code of the type, without the conflicts that are passed on. */
const LIBRARY_CODES: Readonly<Record<LibraryErrorCode, true>> = {
  not_initialised: true,
  not_armed: true,
  attempt_in_progress: true,
  client_reporting_removed: true,
  network: true,
  unauthorized: true,
  insufficient_funds: true,
  challenge_not_available: true,
  blocked: true,
  unknown: true,
};

const answer = (status: number, code: string) => errorOfAnswer(status, { error: { code, message: 'Why.' } });
const CODES = Object.entries(STATUS_OF_CODE);

test('the guide has one row for exactly each error code of the library', () => {
  const [, section = ''] = GUIDE.split('\n## In the browser\n');
  const [own = ''] = section.split('\n## ');
  const rows = [...own.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code);
  expect(rows.toSorted()).toEqual(Object.keys(LIBRARY_CODES).toSorted());
});

test('a conflict keeps its code only if its status is 409', () => {
  const conflicts = CODES.filter(([, status]) => status === 409);
  expect(conflicts.length).toBeGreaterThan(5);
  for (const [code] of conflicts) {
    expect(answer(409, code)).toMatchObject({ code, serverCode: code, status: 409 });
    expect(answer(400, code)).toMatchObject({ code: 'unknown', serverCode: code });
  }
});

test('a code of Laurel with its own status is a refusal, except 401, 500 and a request that is under way', () => {
  const undecided = CODES.filter(([code, status]) => !isRefusal(answer(status, code))).map(([code]) => code);
  expect(undecided.toSorted()).toEqual(['idempotency_in_progress', 'internal_error', 'unauthorized']);
  for (const [code, status] of CODES) expect(isRefusal(answer(status + 1, code))).toBe(false);
  expect(isRefusal(answer(410, 'client_reporting_removed'))).toBe(true);
});
