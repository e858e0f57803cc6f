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

  it('a posted fee id gets the same result even if the player has moved, is blocked or cannot pay by then', () => {
    const fee = charge();
    const stored = { state: 'posted', attemptId: fee.attemptId, postedAt: before } as const;
    for (const facts of [refusedPerson, unknown, known]) {
      const { results, changes } = decide([fee], [{ ...facts, stored }], 0n);
      expect(results).toEqual([{ kind: 'posted', postedAt: before }]);
      expect(changes).toEqual(nothing);
    }
  });

  it('a fee id with a tombstone gets the stored refusal even if the player could pay by then', () => {
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

  it('a fee whose ref now names another account or none gets moved, and nothing is written', () => {
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

  it('a fee is refused as blocked or insider_entry before insufficient_funds, and the refusal leaves a tombstone', () => {
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

  it('a fee up to exactly the fee limit of its program is posted, and one beyond it is blocked', () => {
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

  it('fees of one batch fit into the limit of their program together, and those of another program do not count', () => {
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

  it('a fee is refused if the player_ref has no account: with insufficient_funds, and leaves a tombstone', () => {
    const { results, changes } = decide([charge({ accountId: null })], [unknown]);
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
    expect(changes.lines).toMatchObject([{ state: 'tombstone' }]);
  });

  it('a player without a row of the ledger has a balance of zero', () => {
    const { results } = decideFees({ charges: [charge()], facts: [known], locked: [], rules, now });
    expect(results).toEqual([{ kind: 'refused', code: 'insufficient_funds' }]);
  });

  it('the same fee id twice in one batch is decided once', () => {
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

  it('a batch of fees never overdraws, takes exactly what it posts, and leaves the environment’s sum at zero', () => {
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

  it('a batch of fees writes every id exactly once, as a posted fee or a tombstone, in line with its result', () => {
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

  it('a fee that mayPay permits on cached facts is posted if the facts still hold and the balance pays', () => {
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

  it('a batch of fees decides the same as its items one after the other', () => {
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
