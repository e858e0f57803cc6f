import { expect, test } from 'vitest';
import type { DescribedAttempt } from '../api/api-types.ts';
import { attemptOf, outcomeOf } from './attempt.fixture.ts';
import { headlineOf, verdictOf } from './verdict.ts';

const award = (payout_status: 'paid' | 'held' | 'denied') => ({ id: 'a', amount: '20.00', payout_status });
const settled = (fields: Partial<DescribedAttempt> = {}) =>
  attemptOf({ status: 'settled', score: 40, met_threshold: false, outcome: outcomeOf(), ...fields });
const inRound = { challenge_id: null, tournament_round_id: 'r', outcome: outcomeOf({ threshold_applied: null }) };
const refunded = { kind: 'fee_refunded', at: '2026-11-26T12:00:00.000Z', amount: '1.00' } as const;

test.each<[string, string, DescribedAttempt]>([
  ['open', 'Open: waits for its outcome', attemptOf()],
  ['won $20.00, paid', 'Won $20.00, paid', settled({ award: award('paid'), met_threshold: true })],
  ['won $20.00, held for review', 'Won $20.00, held for review', settled({ award: award('held') })],
  ['won $20.00, denied', 'Won $20.00, denied', settled({ award: award('denied') })],
  ['not won', 'Not won: 40, and the bar is 50', settled()],
  [
    'cleared the bar',
    'Cleared the bar of 50 with 60, without an award',
    settled({ score: 60, met_threshold: true, outcome: outcomeOf({ score: 60, met_threshold: true }) }),
  ],
  ['scored', 'Scored 40: the round pays by rank', settled(inRound)],
  [
    'not won',
    'Scored 40, without a bar: nothing is paid',
    settled({ outcome: outcomeOf({ threshold_applied: null }) }),
  ],
  ['expired', 'Fee returned: expired', attemptOf({ status: 'expired', timeline: [refunded] })],
  [
    'expired',
    'Fee returned: the round was cancelled',
    attemptOf({
      status: 'expired',
      timeline: [{ kind: 'expired', at: null, reason: 'round_cancelled' }, refunded],
    }),
  ],
  ['expired', 'Expired: the fee is returned', attemptOf({ status: 'expired' })],
  ['expired', 'Expired: nothing was charged', attemptOf({ status: 'expired', fee: '0.00' })],
  [
    'voided',
    'Fee returned: voided',
    attemptOf({ status: 'voided', timeline: [{ kind: 'voided', at: null, reason: 'a long story' }, refunded] }),
  ],
])('an attempt that is "%s" in the list is "%s" on its page', (inList, onPage, attempt) => {
  expect([verdictOf(attempt).text, headlineOf(attempt).text]).toEqual([inList, onPage]);
});
