import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../api/api-types.ts';
import type { Failure } from '../../api/failure.ts';
import type { SandboxCall } from './calls.ts';
import { adviceFor, answerInWords } from './words.ts';

const REPORT: SandboxCall = { kind: 'report-outcome', attemptId: 'a', body: { score: 120 } };
const AWARD = { id: 'w', amount: '5.00', paid_at: null };

function outcome(changed: Partial<Outcome>): Outcome {
  const decided = { met_threshold: true, threshold_applied: 100, award: null };
  return { attempt_id: 'a', score: 120, recorded_at: '', receipt_id: '', ...decided, ...changed };
}

function refusal(code: Extract<Failure, { kind: 'refused' }>['code']): Failure {
  return { kind: 'refused', status: 409, code, message: 'No.', requestId: null, retryAfterSeconds: null };
}

describe('an outcome in words', () => {
  test.each([
    [
      { award: { ...AWARD, payout_status: 'paid' } },
      'The score 120 cleared the bar of 100. The award of $5.00 is paid.',
    ],
    [
      { award: { ...AWARD, payout_status: 'held' } },
      'The score 120 cleared the bar of 100. The award of $5.00 is held for review: no money has moved.',
    ],
    [{ met_threshold: false }, 'The score 120 did not clear the bar of 100: no award.'],
    [{ met_threshold: false, threshold_applied: null }, 'The score 120 is recorded. There is no bar to clear.'],
  ] as const)('the outcome %j is described in words', (changed, words) => {
    expect(answerInWords(REPORT, outcome(changed))).toBe(words);
  });
});

describe('the advice for a refusal', () => {
  test('the advice for a refusal depends on its code', () => {
    const create: SandboxCall = {
      kind: 'create-attempt',
      body: { challenge_id: 'c', player_ref: 'p' },
      idempotencyKey: 'k',
    };
    expect(adviceFor(create, refusal('insufficient_funds'))).toContain('Fund the player');
    expect(adviceFor(REPORT, refusal('attempt_already_settled'))).toContain('The attempt is over');
  });

  test('the advice for a conflict depends on the call', () => {
    const conflicts = [
      { kind: 'close-round', roundId: 'r' },
      { kind: 'retry-delivery', deliveryId: 'd' },
    ] as const;
    expect(new Set(conflicts.map((call) => adviceFor(call, refusal('conflict')))).size).toBe(2);
  });

  test('the advice for a lost response says that the call may have taken effect', () => {
    expect(adviceFor(REPORT, { kind: 'unreachable' })).toContain('may have had its effect');
  });

  test('no advice is shown for a refusal whose message names a field', () => {
    expect(adviceFor(REPORT, refusal('invalid_request'))).toBeUndefined();
  });
});
