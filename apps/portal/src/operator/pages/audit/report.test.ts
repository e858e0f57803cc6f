import { expect, test } from 'vitest';
import type { AuditCheck, AuditReport } from '../../../api/api-types.ts';
import { inOrderOfHarm, verdictOf } from './report.ts';

const HOLDS = check('holds', 0, 0);
const PLAY = check('play', 0, 3);
const REAL = check('real', 1, 0);

test('an audit report lists violations of real money before violations of play money', () => {
  const checks = [HOLDS, check('holds_too', 0, 0), PLAY, REAL];
  expect(inOrderOfHarm(checks).map(({ id }) => id)).toEqual(['real', 'play', 'holds', 'holds_too']);
});

test('a report without violations says so', () => {
  expect(verdictOf(reportOf([HOLDS, HOLDS])).title).toBe('Every money rule holds');
});

test('a report says whether real money or only play money breaks a rule', () => {
  expect(verdictOf(reportOf([HOLDS, PLAY])).title).toBe('Play money breaks 1 rule');
  expect(verdictOf(reportOf([REAL, REAL, PLAY, HOLDS])).title).toBe('Real money breaks 2 rules');
});

function check(id: string, live: number, test: number): AuditCheck {
  return { id, description: '', violations: live + test, violations_by_environment: { live, test } };
}

function reportOf(checks: AuditCheck[]): AuditReport {
  return {
    ok: checks.every(({ violations }) => violations === 0),
    live_ok: checks.every(({ violations_by_environment: { live } }) => live === 0),
    checks,
  };
}
