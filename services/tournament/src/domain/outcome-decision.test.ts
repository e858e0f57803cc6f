import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, after, HOUR_MS, NOW, OTHER_TENANT, ROUND, TENANT, WITH_TIEBREAK } from './example.ts';
import { decideOutcome } from './outcome-decision.ts';

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
/** Closes long before the attempt's hour is over. */
const SHORT_ROUND = { ...ROUND, closesAt: after(HOUR_MS / 2) };
/** Closes long after it. */
const LONG_ROUND = { ...ROUND, closesAt: after(2 * HOUR_MS) };
const OVER = ['expiring', 'expired'] as const;

describe('a report', () => {
  it('settles an open attempt with its run', () => {
    expect(decide()).toEqual({ kind: 'settled', run: { score: 100, tiebreak: null, at: NOW } });
    expect(decide({ score: -0.25 })).toMatchObject({ run: { score: -0.25 } });
  });

  it('takes -0 for 0, in the score and in the tiebreak', () => {
    const decision = decide({ score: -0, tiebreak: -0, round: TIEBREAK_ROUND });
    expect(decision).toStrictEqual({ kind: 'settled', run: { score: 0, tiebreak: 0, at: NOW } });
  });

  it('counts a tiebreak exactly where the tournament declares one', () => {
    expect(decide({ tiebreak: 7, round: TIEBREAK_ROUND })).toMatchObject({ run: { tiebreak: 7 } });
    expect(decide({ tiebreak: 7 })).toMatchObject({ run: { tiebreak: null } });
    expect(decide({ round: TIEBREAK_ROUND })).toBe('tiebreak_required');
  });

  it('finds nothing where there is no attempt, another tenant asks, or it was refused', () => {
    expect(decide({ attempt: null, round: null })).toBe('not_found');
    expect(decide({ tenant: OTHER_TENANT })).toBe('not_found');
    expect(decide({ attempt: { ...ATTEMPT, status: 'refused' } })).toBe('not_found');
  });

  it('waits for the fee, unless it is known to be posted', () => {
    const pending = { ...ATTEMPT, status: 'pending' as const };
    expect(decide({ attempt: pending })).toEqual({ kind: 'unresolved' });
    expect(decide({ attempt: pending, feePosted: true })).toMatchObject({ kind: 'settled' });
    expect(decide({ attempt: pending, feePosted: true, round: SHORT_ROUND, now: SHORT_ROUND.closesAt })).toEqual({
      kind: 'round_over',
    });
  });

  it('is too late for an attempt that has an outcome or was voided, whatever became of its round', () => {
    const round = SHORT_ROUND;
    for (const now of [NOW, round.closesAt]) {
      expect(decide({ attempt: { ...ATTEMPT, status: 'settled' }, round, now })).toEqual({ kind: 'settled_before' });
      for (const status of ['voiding', 'voided'] as const) {
        expect(decide({ attempt: { ...ATTEMPT, status }, round, now })).toBe('attempt_already_settled');
      }
    }
  });

  it('is too late at the hour of its attempt, and not a millisecond before', () => {
    expect(decide({ round: LONG_ROUND, now: after(HOUR_MS - 1) })).toMatchObject({ kind: 'settled' });
    expect(decide({ round: LONG_ROUND, now: after(HOUR_MS) })).toEqual({ kind: 'due' });
    for (const status of OVER) {
      const attempt = { ...ATTEMPT, status };
      expect(decide({ attempt, round: LONG_ROUND, now: after(HOUR_MS) })).toBe('attempt_already_settled');
    }
  });

  it('is too late at the close of its round, and not a millisecond before', () => {
    const { closesAt } = SHORT_ROUND;
    expect(decide({ round: SHORT_ROUND, now: after(-1, closesAt) })).toMatchObject({ kind: 'settled' });
    expect(decide({ round: SHORT_ROUND, now: closesAt })).toEqual({ kind: 'round_over' });
    for (const status of OVER) {
      expect(decide({ attempt: { ...ATTEMPT, status }, round: SHORT_ROUND, now: closesAt })).toBe('round_closed');
    }
  });

  it('at the one instant of both, the hour and the close, is told of the hour', () => {
    const round = { ...ROUND, closesAt: after(HOUR_MS) };
    expect(decide({ round, now: after(HOUR_MS) })).toEqual({ kind: 'due' });
  });

  it('is not taken by a round that was closed, though the clock here says that it is not over', () => {
    for (const status of ['settling', 'settled', 'cancelling', 'cancelled'] as const) {
      expect(decide({ round: { ...LONG_ROUND, status } })).toEqual({ kind: 'round_over' });
    }
  });

  it('is told that it is too late before it is told that its tiebreak is missing', () => {
    expect(decide({ round: { ...SHORT_ROUND, terms: WITH_TIEBREAK }, now: SHORT_ROUND.closesAt })).toEqual({
      kind: 'round_over',
    });
    expect(decide({ round: { ...LONG_ROUND, terms: WITH_TIEBREAK }, now: after(HOUR_MS) })).toEqual({ kind: 'due' });
  });

  it('on an attempt that was ended by hand while its round goes on is told that the attempt is over', () => {
    for (const status of OVER) expect(decide({ attempt: { ...ATTEMPT, status } })).toBe('attempt_already_settled');
  });

  it('is told for ever what ended the attempt first, before and after somebody has marked it', () => {
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
        const marked = decide({ attempt: { ...ATTEMPT, status: 'expired' }, round, now });
        expect(marked).toBe(isHour ? 'attempt_already_settled' : 'round_closed');
      }),
    );
  });
});
