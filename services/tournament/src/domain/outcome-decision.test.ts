import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, after, HOUR_MS, NOW, OTHER_TENANT, ROUND, TENANT, WITH_TIEBREAK } from './example.ts';
import { decideOutcome, decideOutcomes, type OutcomeReport } from './outcome-decision.ts';

function decide(changes: Partial<Parameters<typeof decideOutcome>[0]> = {}) {
  const decision = decideOutcome({
    tenant: TENANT,
    attempt: ATTEMPT,
    round: ROUND,
    score: 100,
    tiebreak: null,
    feePosted: false,
    ttlMs: HOUR_MS,
    now: NOW,
    ...changes,
  });
  return decision.kind === 'refused' ? decision.code : decision;
}

const TIEBREAK_ROUND = { ...ROUND, terms: WITH_TIEBREAK };
/** A round that closes long before the attempt's deadline. */
const SHORT_ROUND = { ...ROUND, closesAt: after(HOUR_MS / 2) };
/** A round that closes long after the attempt's deadline. */
const LONG_ROUND = { ...ROUND, closesAt: after(2 * HOUR_MS) };
const OVER = ['expiring', 'expired'] as const;

describe('a report', () => {
  it('a report settles an open attempt with its run', () => {
    expect(decide()).toEqual({ kind: 'settled', run: { score: 100, tiebreak: null, at: NOW } });
    expect(decide({ score: -0.25 })).toMatchObject({ run: { score: -0.25 } });
  });

  it('a report of -0 counts as 0, in the score and in the tiebreak', () => {
    const decision = decide({ score: -0, tiebreak: -0, round: TIEBREAK_ROUND });
    expect(decision).toStrictEqual({ kind: 'settled', run: { score: 0, tiebreak: 0, at: NOW } });
  });

  it('a report counts a tiebreak if and only if the tournament declares one', () => {
    expect(decide({ tiebreak: 7, round: TIEBREAK_ROUND })).toMatchObject({ run: { tiebreak: 7 } });
    expect(decide({ tiebreak: 7 })).toMatchObject({ run: { tiebreak: null } });
    expect(decide({ round: TIEBREAK_ROUND })).toBe('tiebreak_required');
  });

  it('a report is not found for an unknown attempt, another tenant, or a refused attempt', () => {
    expect(decide({ attempt: null, round: null })).toBe('not_found');
    expect(decide({ tenant: OTHER_TENANT })).toBe('not_found');
    expect(decide({ attempt: { ...ATTEMPT, status: 'refused' } })).toBe('not_found');
  });

  it('a report on a pending attempt is not decided until the fee is known to be posted', () => {
    const pending = { ...ATTEMPT, status: 'pending' as const };
    expect(decide({ attempt: pending })).toEqual({ kind: 'unresolved' });
    expect(decide({ attempt: pending, feePosted: true })).toMatchObject({ kind: 'settled' });
    expect(decide({ attempt: pending, feePosted: true, round: SHORT_ROUND, now: SHORT_ROUND.closesAt })).toEqual({
      kind: 'round_over',
    });
  });

  it('a report is refused for an attempt that has an outcome or was voided', () => {
    const round = SHORT_ROUND;
    for (const now of [NOW, round.closesAt]) {
      expect(decide({ attempt: { ...ATTEMPT, status: 'settled' }, round, now })).toEqual({ kind: 'settled_before' });
      for (const status of ['voiding', 'voided'] as const) {
        expect(decide({ attempt: { ...ATTEMPT, status }, round, now })).toBe('attempt_already_settled');
      }
    }
  });

  it('a report is too late at the deadline of its attempt, and not a millisecond before', () => {
    expect(decide({ round: LONG_ROUND, now: after(HOUR_MS - 1) })).toMatchObject({ kind: 'settled' });
    expect(decide({ round: LONG_ROUND, now: after(HOUR_MS) })).toEqual({ kind: 'due' });
    for (const status of OVER) {
      const attempt = { ...ATTEMPT, status };
      expect(decide({ attempt, round: LONG_ROUND, now: after(HOUR_MS) })).toBe('attempt_already_settled');
    }
  });

  it('a report is too late at the close of its round, and not a millisecond before', () => {
    const { closesAt } = SHORT_ROUND;
    expect(decide({ round: SHORT_ROUND, now: after(-1, closesAt) })).toMatchObject({ kind: 'settled' });
    expect(decide({ round: SHORT_ROUND, now: closesAt })).toEqual({ kind: 'round_over' });
    for (const status of OVER) {
      for (const closedReason of ['round_closed', 'round_cancelled']) {
        const attempt = { ...ATTEMPT, status, closedReason };
        expect(decide({ attempt, round: SHORT_ROUND, now: closesAt })).toBe('round_closed');
      }
    }
  });

  it('a report is refused for the deadline if the round closes at the same instant', () => {
    const round = { ...ROUND, closesAt: after(HOUR_MS) };
    expect(decide({ round, now: after(HOUR_MS) })).toEqual({ kind: 'due' });
  });

  it('a report is refused by a round that was closed early', () => {
    for (const status of ['settling', 'settled', 'cancelling', 'cancelled'] as const) {
      expect(decide({ round: { ...LONG_ROUND, status } })).toEqual({ kind: 'round_over' });
    }
  });

  it('a report is refused as too late before its missing tiebreak is checked', () => {
    expect(decide({ round: { ...SHORT_ROUND, terms: WITH_TIEBREAK }, now: SHORT_ROUND.closesAt })).toEqual({
      kind: 'round_over',
    });
    expect(decide({ round: { ...LONG_ROUND, terms: WITH_TIEBREAK }, now: after(HOUR_MS) })).toEqual({ kind: 'due' });
  });

  it('a report on an expired attempt is refused as attempt_already_settled, even after the round closed', () => {
    for (const attempt of OVER.map((status) => ({ ...ATTEMPT, status, closedReason: null }))) {
      expect(decide({ attempt })).toBe('attempt_already_settled');
      expect(decide({ attempt, round: SHORT_ROUND, now: SHORT_ROUND.closesAt })).toBe('attempt_already_settled');
      for (const status of ['settling', 'settled', 'cancelling', 'cancelled'] as const) {
        expect(decide({ attempt, round: { ...SHORT_ROUND, status } })).toBe('attempt_already_settled');
      }
    }
  });

  it('the refusal of a report names what ended the attempt first, the deadline or the close of the round', () => {
    const instants = fc.integer({ min: 1, max: 3 * HOUR_MS });
    fc.assert(
      fc.property(instants, instants, fc.boolean(), (closesInMs, nowMs, isClosed) => {
        const endsInMs = Math.min(closesInMs, HOUR_MS);
        fc.pre(nowMs >= endsInMs);
        const hasClosed = isClosed && nowMs >= closesInMs;
        const round = { ...ROUND, closesAt: after(closesInMs), status: hasClosed ? 'settled' : 'open' } as const;
        const now = after(nowMs);
        const isHour = HOUR_MS <= closesInMs;
        expect(decide({ round, now })).toEqual({ kind: isHour ? 'due' : 'round_over' });
        const closedReason = isHour ? null : 'round_closed';
        const marked = decide({ attempt: { ...ATTEMPT, status: 'expired', closedReason }, round, now });
        expect(marked).toBe(isHour ? 'attempt_already_settled' : 'round_closed');
      }),
    );
  });
});

describe('a batch of reports', () => {
  const report = (changes: Partial<OutcomeReport> = {}): OutcomeReport => ({
    operationId: 'operation',
    attemptId: ATTEMPT.id,
    tenant: TENANT,
    score: 100,
    tiebreak: null,
    evidence: '',
    idempotencyUse: null,
    ...changes,
  });

  it('only the first report of a batch on an attempt settles the attempt', () => {
    const found = { attempt: ATTEMPT, round: ROUND };
    const batch = [report(), report({ score: 200 }), report({ attemptId: 'unknown' })];
    const rules = { ttlMs: HOUR_MS, now: NOW };
    expect(decideOutcomes(batch, new Map([[ATTEMPT.id, found]]), rules)).toMatchObject([
      { kind: 'settled', run: { score: 100, tiebreak: null, at: NOW }, report: batch[0], found },
      { kind: 'settled_before' },
      { kind: 'refused', code: 'not_found' },
    ]);
  });

  it('a refused report leaves its attempt open for a later report of the batch', () => {
    const found = { attempt: ATTEMPT, round: TIEBREAK_ROUND };
    const batch = [report(), report({ tiebreak: 1 })];
    const rules = { ttlMs: HOUR_MS, now: NOW };
    expect(decideOutcomes(batch, new Map([[ATTEMPT.id, found]]), rules)).toMatchObject([
      { kind: 'refused', code: 'tiebreak_required' },
      { kind: 'settled', run: { tiebreak: 1 } },
    ]);
  });
});
