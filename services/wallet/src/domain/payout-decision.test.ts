import { awardTransferId, newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { houseLedgerId, type PlayerLedger, playerLedgerId } from './ledger.ts';
import {
  decidePayouts,
  type Payout,
  type PayoutFacts,
  type PayoutRequest,
  PayoutTermsError,
  type Win,
} from './payout-decision.ts';
import { NO_PAYOUTS, NO_PROGRAM_LIMIT } from './payout-hold.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const accountId = newId();
const ledgerId = playerLedgerId(accountId, 'test');
const houseId = newId();
const limits = { count: 5, amountCents: cents(500_00n) };
const clean: PayoutFacts = {
  stored: null,
  enforcementFlag: false,
  underInvestigation: false,
  recent: NO_PAYOUTS,
  program: NO_PROGRAM_LIMIT,
};

function payment(amount = 10_00n): PayoutRequest & Win & { kind: 'award' } {
  return { kind: 'award', attemptId: newId(), ...terms(amount) };
}

function purse(amount = 10_00n): PayoutRequest & Win & { kind: 'purse' } {
  return { kind: 'purse', roundId: newId(), ...terms(amount) };
}

function terms(amount: bigint) {
  return {
    awardId: newId(),
    programId: houseId,
    environment: 'test' as const,
    accountId,
    amountCents: cents(amount),
  };
}

function decide(payments: PayoutRequest[], facts: PayoutFacts[], change: Partial<PlayerLedger> = {}) {
  const row = {
    id: ledgerId,
    accountId,
    environment: 'test',
    houseId,
    balanceCents: cents(0n),
    holdNextAward: false,
  } as const;
  return decidePayouts({ payments, facts, locked: [{ ...row, ...change }], limits, now });
}

describe('awards of one batch and the limit of their program', () => {
  const program = { paidCents: cents(0n), limitCents: cents(25_00n) };
  const limited = { ...clean, program };

  it('awards and purses of one batch count together towards the program’s limit', () => {
    const wins = [payment(10_00n), purse(10_00n), payment(10_00n), payment(5_00n)];
    const { payouts, fresh, programs } = decide(
      wins,
      wins.map(() => limited),
    );
    expect(payouts.map(({ reason }) => reason)).toEqual([null, null, 'program_velocity', null]);
    expect(fresh.map(({ programLimitCents }) => programLimitCents)).toEqual([25_00n, null, null, 25_00n]);
    expect(programs).toEqual([{ programId: houseId, environment: 'test', paidCents: 25_00n }]);
  });

  it('awards of another program and of another environment do not share the limit', () => {
    const programId = newId();
    const wins = [payment(25_00n), { ...payment(25_00n), programId }, payment(1n)];
    const { payouts, programs } = decide(
      wins,
      wins.map(() => limited),
    );
    expect(payouts.map(({ reason }) => reason)).toEqual([null, null, 'program_velocity']);
    expect(programs.map((change) => change.programId)).toEqual([houseId, programId]);
  });
});

describe('decideAwards', () => {
  it('an award moves from the house’s account for prizes to the player', () => {
    const award = payment();
    const { payouts, fresh, changes } = decide([award], [clean]);
    expect(payouts).toEqual([{ ...award, status: 'paid', reason: null, createdAt: now, paidAt: now }]);
    expect(fresh).toEqual(payouts.map((payout) => ({ ...payout, programLimitCents: null })));
    expect(changes.lines).toEqual([
      {
        state: 'posted',
        id: awardTransferId(award.awardId),
        details: { kind: 'award', attemptId: award.attemptId, awardId: award.awardId },
        environment: 'test',
        houseId,
        debitId: houseLedgerId('house_prizes', houseId),
        creditId: ledgerId,
        amountCents: 10_00n,
        ledgerId,
        balanceAfterCents: 10_00n,
      },
    ]);
  });

  it('a purse moves from the house’s account for purses to the player', () => {
    const won = purse();
    const { payouts, changes } = decide([won], [clean]);
    expect(payouts).toEqual([{ ...won, status: 'paid', reason: null, createdAt: now, paidAt: now }]);
    expect(changes.lines).toMatchObject([
      {
        id: awardTransferId(won.awardId),
        details: { kind: 'purse', roundId: won.roundId, awardId: won.awardId },
        debitId: houseLedgerId('house_purses', houseId),
        creditId: ledgerId,
      },
    ]);
    expect(changes.house).toEqual([
      {
        id: houseLedgerId('house_purses', houseId),
        kind: 'house_purses',
        houseId,
        deltaCents: -10_00n,
      },
    ]);
  });

  it('a held award is recorded and moves no money', () => {
    const award = payment();
    const { payouts, changes } = decide([award], [{ ...clean, underInvestigation: true }]);
    expect(payouts).toEqual([
      { ...award, status: 'held', reason: 'under_investigation', createdAt: now, paidAt: null },
    ]);
    expect(changes).toEqual({ lines: [], players: [], house: [] });
  });

  it('payouts of the same batch count towards the velocity', () => {
    const payments = Array.from({ length: 7 }, () => payment());
    const { payouts } = decide(
      payments,
      payments.map(() => clean),
    );
    expect(payouts.map((payout) => payout.status)).toEqual(['paid', 'paid', 'paid', 'paid', 'paid', 'held', 'held']);
  });

  it('purses are never held on payout velocity, but count towards it', () => {
    const payments = [...Array.from({ length: 6 }, () => purse(600_00n)), payment(1n)];
    const { payouts } = decide(
      payments,
      payments.map(() => clean),
    );
    expect(payouts.map((payout) => payout.reason)).toEqual([null, null, null, null, null, null, 'payout_velocity']);
  });

  it('a purse consumes the sandbox’s “hold the next award” like an award', () => {
    const payments = [purse(), payment()];
    const { payouts } = decide(payments, [clean, clean], { holdNextAward: true });
    expect(payouts.map((payout) => payout.reason)).toEqual(['sandbox_hold', null]);
  });

  it('exactly one award consumes the sandbox’s “hold the next award”', () => {
    const payments = [payment(), payment()];
    const { payouts, changes } = decide(payments, [clean, clean], { holdNextAward: true });
    expect(payouts.map((payout) => payout.reason)).toEqual(['sandbox_hold', null]);
    expect(changes.players).toEqual([
      { id: ledgerId, accountId, environment: 'test', houseId, balanceCents: 10_00n, holdNextAward: false },
    ]);
  });

  it('an award that is held for another reason consumes the sandbox’s “hold the next award” too', () => {
    const { payouts, changes } = decide([payment()], [{ ...clean, enforcementFlag: true }], { holdNextAward: true });
    expect(payouts.map((payout) => payout.reason)).toEqual(['enforcement_flag']);
    expect(changes.players).toMatchObject([{ holdNextAward: false, balanceCents: 0n }]);
  });

  it('a repeated award returns its current state and does not consume “hold the next award”', () => {
    const award = payment();
    const stored: Payout = { ...award, status: 'denied', reason: 'sandbox_hold', createdAt: now, paidAt: null };
    const { payouts, fresh, changes } = decide([award], [{ ...clean, stored }], { holdNextAward: true });
    expect(payouts).toEqual([stored]);
    expect(fresh).toEqual([]);
    expect(changes).toEqual({ lines: [], players: [], house: [] });
  });

  it('an award that a batch has twice is paid once', () => {
    const award = payment();
    const { payouts, fresh, changes } = decide([award, award], [clean, clean]);
    expect(payouts[0]).toEqual(payouts[1]);
    expect(fresh).toHaveLength(1);
    expect(changes.lines).toHaveLength(1);
  });

  const two = <T>(values: readonly [T, T]) => fc.constantFrom(...values);
  const [one, other] = [newId(), newId()];
  const request: fc.Arbitrary<PayoutRequest> = fc
    .record({
      win: fc.constantFrom<Win[]>(
        { kind: 'award', attemptId: one },
        { kind: 'award', attemptId: other },
        { kind: 'purse', roundId: one },
        { kind: 'purse', roundId: other },
      ),
      programId: two([one, other]),
      environment: two(['test', 'live'] as const),
      accountId: two([accountId, other]),
      amountCents: two([cents(1n), cents(2n)]),
    })
    .map(({ win, ...others }) => ({ ...win, ...others, awardId: one }));
  const status = fc.constantFrom('paid', 'held', 'denied');

  it('a repeated request returns the stored payout exactly if the terms are the same', () => {
    const results = { repeated: 0, refused: 0 };
    const text = (of: PayoutRequest) => JSON.stringify({ ...of, amountCents: String(of.amountCents) });
    fc.assert(
      fc.property(request, fc.option(request), status, (decided, changed, status) => {
        const again = changed ?? decided;
        const payout = { ...decided, status, reason: 'sandbox_hold', createdAt: now, paidAt: now } as Payout;
        const facts = { ...clean, stored: payout };
        if (text(decided) === text(again)) {
          expect(decide([again], [facts]).payouts).toEqual([payout]);
          results.repeated += 1;
        } else {
          expect(() => decide([again], [facts])).toThrow(PayoutTermsError);
          results.refused += 1;
        }
      }),
      { numRuns: 500 },
    );
    expect(results.repeated).toBeGreaterThan(20);
    expect(results.refused).toBeGreaterThan(20);
  });

  it('a batch with one award id on two different terms is refused', () => {
    const award = payment();
    expect(() => decide([award, { ...award, amountCents: cents(1n) }], [clean, clean])).toThrow(
      `the payout ${award.awardId} was decided with another amountCents`,
    );
    expect(() => decide([award, { ...purse(), awardId: award.awardId }], [clean, clean])).toThrow(
      `the payout ${award.awardId} was decided with another kind, wonBy`,
    );
  });
});
