import { newId } from '@laurel/ids';
import { cents } from '@laurel/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STANDING } from './example.ts';
import { decideFees, type FeeCharge, type FeeFacts, mayPay } from './fee-decision.ts';
import { houseLedgerId, type PlayerLedger, playerLedgerId } from './ledger.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const before = new Date('2026-11-21T11:00:00.000Z');
const rules = { minimumAgeYears: 18, servedJurisdictions: [] };
const accountId = newId();
const ledgerId = playerLedgerId(accountId, 'live');

const known: FeeFacts = { stored: null, player: { accountId, standing: STANDING } };
const refusedPerson: FeeFacts = { stored: null, player: { accountId, standing: { ...STANDING, blocked: true } } };
const nothing = { lines: [], players: [], house: [] };
const unknown: FeeFacts = { stored: null, player: null };

function charge(change: Partial<FeeCharge> = {}): FeeCharge {
  return {
    transferId: newId(),
    attemptId: newId(),
    programId: newId(),
    environment: 'live',
    playerRef: 'p',
    accountId,
    feeCents: cents(100n),
    requirement: { verificationLevel: 0, jurisdictions: [], refuseInsiders: false },
    ...change,
  };
}

function locked(balance: bigint): PlayerLedger[] {
  return [{ id: ledgerId, accountId, environment: 'live', balanceCents: cents(balance), holdNextAward: false }];
}

function decide(charges: FeeCharge[], facts: FeeFacts[], balance = 1_000n) {
  return decideFees({ charges, facts, locked: locked(balance), rules, now });
}

describe('decideFees', () => {
  it('posts a fee from the player to the house', () => {
    const fee = charge();
    expect(decide([fee], [known])).toEqual({
      results: [{ kind: 'posted', postedAt: now }],
      changes: {
        lines: [
          {
            state: 'posted',
            id: fee.transferId,
            details: { kind: 'fee', attemptId: fee.attemptId },
            environment: 'live',
            debitId: ledgerId,
            creditId: houseLedgerId('house_fees', 'live'),
            amountCents: 100n,
            ledgerId,
            balanceAfterCents: 900n,
          },
        ],
        players: [{ id: ledgerId, accountId, environment: 'live', balanceCents: 900n, holdNextAward: false }],
        house: [{ id: houseLedgerId('house_fees', 'live'), kind: 'house_fees', environment: 'live', deltaCents: 100n }],
      },
    });
  });

  it('answers a posted id as it was posted, even for a player who moved, is blocked or is broke by now', () => {
    const fee = charge();
    const stored = { state: 'posted', attemptId: fee.attemptId, postedAt: before } as const;
    for (const facts of [refusedPerson, unknown, known]) {
      const { results, changes } = decide([fee], [{ ...facts, stored }], 0n);
      expect(results).toEqual([{ kind: 'posted', postedAt: before }]);
      expect(changes).toEqual(nothing);
    }
  });

  it('answers a fenced id with the refusal that burnt it, even when the player could pay by now', () => {
    const stored = { state: 'fenced', refusalCode: 'insufficient_funds' } as const;
    const { results, changes } = decide([charge()], [{ ...known, stored }]);
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
    expect(changes).toEqual(nothing);
  });

  it('answers internal_error for an id that was given up unheard', () => {
    const { results } = decide([charge()], [{ ...known, stored: { state: 'fenced', refusalCode: null } }]);
    expect(results).toEqual([{ kind: 'refused', code: 'internal_error' }]);
  });

  it('takes a posted id of another attempt for a bug', () => {
    const stored = { state: 'posted', attemptId: newId(), postedAt: before } as const;
    expect(() => decide([charge()], [{ ...known, stored }])).toThrow(/was posted for the attempt/);
  });

  it('answers moved, and writes nothing, when the ref names another account or none', () => {
    const other = newId();
    const moved = { ...known, player: { accountId: other, standing: STANDING } };
    const { results, changes } = decide([charge(), charge(), charge({ accountId: null })], [moved, unknown, known]);
    expect(results).toEqual([
      { kind: 'moved', accountId: other },
      { kind: 'moved', accountId: null },
      { kind: 'moved', accountId },
    ]);
    expect(changes).toEqual(nothing);
  });

  it('says blocked and insider_entry before insufficient_funds, and burns the id', () => {
    const insider = { ...known, player: { accountId, standing: { ...STANDING, insider: true } } };
    const requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: true };
    const fees = [charge(), charge({ requirement })];
    const { results, changes } = decide(fees, [refusedPerson, insider], 0n);
    expect(results).toEqual([
      { kind: 'refused', code: 'blocked' },
      { kind: 'refused', code: 'insider_entry' },
    ]);
    expect(changes.lines).toMatchObject([
      { state: 'fenced', id: fees[0]?.transferId, refusalCode: 'blocked' },
      { state: 'fenced', id: fees[1]?.transferId, refusalCode: 'insider_entry' },
    ]);
  });

  it('refuses a ref without an account for want of funds, and burns the id', () => {
    const { results, changes } = decide([charge({ accountId: null })], [unknown]);
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
    expect(changes.lines).toMatchObject([{ state: 'fenced' }]);
  });

  it('takes a player without a row of the ledger for one without money', () => {
    const { results } = decideFees({ charges: [charge()], facts: [known], locked: [], rules, now });
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
  });

  it('decides the same id once even within one batch', () => {
    const fee = charge();
    const { results, changes } = decide([fee, fee], [known, known]);
    expect(results).toEqual([
      { kind: 'posted', postedAt: now },
      { kind: 'posted', postedAt: now },
    ]);
    expect(changes.lines).toHaveLength(1);
  });
});

describe('the laws of a batch of fees', () => {
  const fees = fc.array(fc.bigInt({ min: 1n, max: 300n }), { maxLength: 30 });
  const balances = fc.bigInt({ min: 0n, max: 2_000n });

  it('never overdraws, takes exactly what it posted, and leaves the environment at zero', () => {
    fc.assert(
      fc.property(fees, balances, (amounts, balance) => {
        const charges = amounts.map((feeCents) => charge({ feeCents: cents(feeCents) }));
        const { changes } = decide(
          charges,
          charges.map(() => known),
          balance,
        );
        const taken = changes.lines.reduce((sum, line) => sum + (line.state === 'posted' ? line.amountCents : 0n), 0n);
        const after = changes.players[0]?.balanceCents ?? balance;
        const house = changes.house[0]?.deltaCents ?? 0n;
        expect(after).toBe(balance - taken);
        expect(after).toBeGreaterThanOrEqual(0n);
        expect(house).toBe(taken);
      }),
    );
  });

  it('writes every id exactly once, posted or fenced as it answered', () => {
    fc.assert(
      fc.property(fees, balances, (amounts, balance) => {
        const charges = amounts.map((feeCents) => charge({ feeCents: cents(feeCents) }));
        const { results, changes } = decide(
          charges,
          charges.map(() => known),
          balance,
        );
        expect(changes.lines.map(({ id, state }) => [id, state])).toEqual(
          charges.map((fee, index) => [fee.transferId, results[index]?.kind === 'posted' ? 'posted' : 'fenced']),
        );
      }),
    );
  });

  it('whoever may pay by what is remembered has the fee posted, as long as it holds and the balance pays', () => {
    const standings = fc.record({
      dateOfBirth: fc.constantFrom('1990-01-01', '2008-11-21', '2008-11-22'),
      jurisdiction: fc.constantFrom('US-CA', 'US-WA'),
      verificationLevel: fc.nat(3),
      selfExcludedUntil: fc.constantFrom(null, before, now, new Date(now.getTime() + 1)),
      blocked: fc.boolean(),
      insider: fc.boolean(),
    });
    const requirements = fc.record({
      verificationLevel: fc.nat(3),
      jurisdictions: fc.constantFrom([], ['US-CA']),
      refuseInsiders: fc.boolean(),
    });
    const owners = fc.constantFrom(accountId, newId());
    fc.assert(
      fc.property(standings, requirements, owners, (facts, requirement, owner) => {
        const player = { accountId: owner, standing: facts };
        const fee = charge({ requirement });
        const { results } = decide([fee], [{ stored: null, player }]);
        expect(mayPay(fee, player, { rules, now })).toBe(results[0]?.kind === 'posted');
      }),
    );
  });

  it('a batch decides as its items would one after the other', () => {
    fc.assert(
      fc.property(fees, balances, (amounts, balance) => {
        const charges = amounts.map((feeCents) => charge({ feeCents: cents(feeCents) }));
        const together = decide(
          charges,
          charges.map(() => known),
          balance,
        );
        let left = balance;
        const oneByOne = charges.map((fee) => {
          const { results, changes } = decide([fee], [known], left);
          left = changes.players[0]?.balanceCents ?? left;
          return results[0];
        });
        expect(together.results).toEqual(oneByOne);
      }),
    );
  });
});
