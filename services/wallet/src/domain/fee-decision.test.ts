import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ELIGIBLE } from './example.ts';
import { decideFees, type FeeCharge, type FeeFacts, mayPay } from './fee-decision.ts';
import { NO_FEE_LIMIT } from './fee-limit.ts';
import { houseLedgerId, LIVE_HOUSE, type PlayerLedger, playerLedgerId } from './ledger.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const before = new Date('2026-11-21T11:00:00.000Z');
const rules = { minimumAgeYears: 18, servedJurisdictions: [] };
const accountId = newId();
const ledgerId = playerLedgerId(accountId, 'live');

const known: FeeFacts = { stored: null, player: { accountId, eligibility: ELIGIBLE }, charged: NO_FEE_LIMIT };
const refusedPerson: FeeFacts = {
  ...known,
  player: { accountId, eligibility: { ...ELIGIBLE, blocked: true } },
};
const nothing = { lines: [], players: [], house: [] };
const unknown: FeeFacts = { stored: null, player: null, charged: NO_FEE_LIMIT };

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
  const holdNextAward = false;
  return [
    { id: ledgerId, accountId, environment: 'live', houseId: LIVE_HOUSE, balanceCents: cents(balance), holdNextAward },
  ];
}

function decide(charges: FeeCharge[], facts: FeeFacts[], balance = 1_000n) {
  return decideFees({ charges, facts, locked: locked(balance), rules, now });
}

describe('decideFees', () => {
  it('a fee is posted from the player to the house', () => {
    const fee = charge();
    expect(decide([fee], [known])).toEqual({
      results: [{ kind: 'posted', postedAt: now }],
      changes: {
        lines: [
          {
            state: 'posted',
            id: fee.transferId,
            details: { kind: 'fee', attemptId: fee.attemptId, programId: fee.programId, programLimitCents: null },
            environment: 'live',
            houseId: LIVE_HOUSE,
            debitId: ledgerId,
            creditId: houseLedgerId('house_fees', LIVE_HOUSE),
            amountCents: 100n,
            ledgerId,
            balanceAfterCents: 900n,
          },
        ],
        players: locked(900n),
        house: [
          { id: houseLedgerId('house_fees', LIVE_HOUSE), kind: 'house_fees', houseId: LIVE_HOUSE, deltaCents: 100n },
        ],
      },
    });
  });

  it('a repeated charge of a posted fee returns the first result, even if the player could not pay now', () => {
    const fee = charge();
    const stored = { state: 'posted', attemptId: fee.attemptId, postedAt: before } as const;
    for (const facts of [refusedPerson, unknown, known]) {
      const { results, changes } = decide([fee], [{ ...facts, stored }], 0n);
      expect(results).toEqual([{ kind: 'posted', postedAt: before }]);
      expect(changes).toEqual(nothing);
    }
  });

  it('a repeated charge of a refused fee returns the stored refusal, even if the player could pay now', () => {
    const stored = { state: 'tombstone', refusalCode: 'insufficient_funds' } as const;
    const { results, changes } = decide([charge()], [{ ...known, stored }]);
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
    expect(changes).toEqual(nothing);
  });

  it('a fee id whose attempt was abandoned before its charge arrived is refused with internal_error', () => {
    const { results } = decide([charge()], [{ ...known, stored: { state: 'tombstone', refusalCode: null } }]);
    expect(results).toEqual([{ kind: 'refused', code: 'internal_error' }]);
  });

  it('a posted fee id with another attempt is a bug and throws', () => {
    const stored = { state: 'posted', attemptId: newId(), postedAt: before } as const;
    expect(() => decide([charge()], [{ ...known, stored }])).toThrow(/was posted for the attempt/);
  });

  it('a charge returns moved and writes nothing if its player_ref now names another account or none', () => {
    const other = newId();
    const moved = { ...known, player: { accountId: other, eligibility: ELIGIBLE } };
    const { results, changes } = decide([charge(), charge(), charge({ accountId: null })], [moved, unknown, known]);
    expect(results).toEqual([
      { kind: 'moved', accountId: other },
      { kind: 'moved', accountId: null },
      { kind: 'moved', accountId },
    ]);
    expect(changes).toEqual(nothing);
  });

  it('a fee is checked for blocked and insider_entry before insufficient_funds', () => {
    const insider = { ...known, player: { accountId, eligibility: { ...ELIGIBLE, insider: true } } };
    const requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: true };
    const fees = [charge(), charge({ requirement })];
    const { results, changes } = decide(fees, [refusedPerson, insider], 0n);
    expect(results).toEqual([
      { kind: 'refused', code: 'blocked' },
      { kind: 'refused', code: 'insider_entry' },
    ]);
    expect(changes.lines).toMatchObject([
      { state: 'tombstone', id: fees[0]?.transferId, refusalCode: 'blocked' },
      { state: 'tombstone', id: fees[1]?.transferId, refusalCode: 'insider_entry' },
    ]);
  });

  it('a fee is posted up to the program’s fee limit and blocked beyond it', () => {
    const charged = { chargedCents: cents(150n), limitCents: cents(250n) };
    const { results, changes } = decide([charge()], [{ ...known, charged }]);
    expect(results).toEqual([{ kind: 'posted', postedAt: now }]);
    expect(changes.lines).toMatchObject([{ details: { programLimitCents: 250n } }]);
    const over = decide([charge({ feeCents: cents(101n) })], [{ ...known, charged }]);
    expect(over.results).toEqual([{ kind: 'refused', code: 'blocked' }]);
    expect(over.changes.lines).toMatchObject([{ state: 'tombstone', refusalCode: 'blocked' }]);
  });

  it('a fee is checked against the fee limit after insider_entry and before insufficient_funds', () => {
    const full = { chargedCents: cents(0n), limitCents: cents(0n) };
    const insider = { ...known, charged: full, player: { accountId, eligibility: { ...ELIGIBLE, insider: true } } };
    const requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: true };
    const { results } = decide([charge({ requirement }), charge()], [insider, { ...known, charged: full }], 0n);
    expect(results).toEqual([
      { kind: 'refused', code: 'insider_entry' },
      { kind: 'refused', code: 'blocked' },
    ]);
  });

  it('fees of one batch share the limit of their program', () => {
    const programId = newId();
    const limited = { ...known, charged: { chargedCents: cents(0n), limitCents: cents(200n) } };
    const charges = [charge({ programId }), charge(), charge({ programId }), charge({ programId })];
    const { results } = decide(
      charges,
      charges.map(() => limited),
    );
    expect(results.map((result) => (result.kind === 'refused' ? result.code : result.kind))).toEqual([
      'posted',
      'posted',
      'posted',
      'blocked',
    ]);
  });

  it('a fee is refused with insufficient_funds if the player_ref has no account', () => {
    const { results, changes } = decide([charge({ accountId: null })], [unknown]);
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
    expect(changes.lines).toMatchObject([{ state: 'tombstone' }]);
  });

  it('a player without a row of the ledger has a balance of zero', () => {
    const { results } = decideFees({ charges: [charge()], facts: [known], locked: [], rules, now });
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
  });

  it('a fee id that a batch has twice is decided once', () => {
    const fee = charge();
    const { results, changes } = decide([fee, fee], [known, known]);
    expect(results).toEqual([
      { kind: 'posted', postedAt: now },
      { kind: 'posted', postedAt: now },
    ]);
    expect(changes.lines).toHaveLength(1);
  });
});

describe('properties of a batch of fees', () => {
  const fees = fc.array(fc.bigInt({ min: 1n, max: 300n }), { maxLength: 30 });
  const balances = fc.bigInt({ min: 0n, max: 2_000n });

  it('a batch of fees debits exactly the posted fees and never overdraws the player', () => {
    fc.assert(
      fc.property(fees, balances, (amounts, balance) => {
        const charges = amounts.map((feeCents) => charge({ feeCents: cents(feeCents) }));
        const { changes } = decide(
          charges,
          charges.map(() => known),
          balance,
        );
        const charged = changes.lines.reduce(
          (sum, line) => sum + (line.state === 'posted' ? line.amountCents : 0n),
          0n,
        );
        const after = changes.players[0]?.balanceCents ?? balance;
        const house = changes.house[0]?.deltaCents ?? 0n;
        expect(after).toBe(balance - charged);
        expect(after).toBeGreaterThanOrEqual(0n);
        expect(house).toBe(charged);
      }),
    );
  });

  it('a batch of fees writes each id exactly once, as a posted fee or a tombstone', () => {
    fc.assert(
      fc.property(fees, balances, (amounts, balance) => {
        const charges = amounts.map((feeCents) => charge({ feeCents: cents(feeCents) }));
        const { results, changes } = decide(
          charges,
          charges.map(() => known),
          balance,
        );
        expect(changes.lines.map(({ id, state }) => [id, state])).toEqual(
          charges.map((fee, index) => [fee.transferId, results[index]?.kind === 'posted' ? 'posted' : 'tombstone']),
        );
      }),
    );
  });

  it('a fee that mayPay permits is posted if the cached facts still hold and the balance suffices', () => {
    const persons = fc.record({
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
      fc.property(persons, requirements, owners, (facts, requirement, owner) => {
        const player = { accountId: owner, eligibility: facts };
        const fee = charge({ requirement });
        const { results } = decide([fee], [{ ...known, player }]);
        expect(mayPay(fee, player, { rules, now })).toBe(results[0]?.kind === 'posted');
      }),
    );
  });

  it('a batch of fees gets the same decisions as its fees one by one', () => {
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
