import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  environmentOf,
  HOUSE_DIGIT,
  type HouseKind,
  houseLedgerId,
  houseOf,
  LIVE_HOUSE,
  openBook,
  type PlayerLedger,
  type Posting,
} from './ledger.ts';

const programs = [newId(), newId(), newId()];
const houses = [LIVE_HOUSE, ...programs];
const KINDS = Object.keys(HOUSE_DIGIT) as HouseKind[];

/** A player of each house, with enough money for every fee below. */
const rows: PlayerLedger[] = houses.map((houseId) => ({
  id: newId(),
  accountId: newId(),
  environment: environmentOf(houseId),
  houseId,
  balanceCents: cents(1_000_000n),
  holdNextAward: false,
}));

const posting = fc
  .record({
    player: fc.nat(rows.length - 1),
    amount: fc.bigInt(1n, 1_000n),
    kind: fc.constantFrom('fee', 'refund', 'award', 'purse', 'deposit'),
  })
  .map(({ player, amount, kind }): Posting => {
    const base = { id: newId(), ledgerId: rows[player]?.id ?? '', amountCents: cents(amount) };
    const attemptId = newId();
    if (kind === 'fee') return { ...base, kind, attemptId, programId: newId(), programLimitCents: null };
    if (kind === 'refund') return { ...base, kind, attemptId, feeTransferId: newId(), reason: 'expired' };
    if (kind === 'award') return { ...base, kind, attemptId, awardId: newId() };
    if (kind === 'purse') return { ...base, kind, roundId: newId(), awardId: newId() };
    return { ...base, kind: 'deposit', reference: newId() };
  });

describe('houses of the ledger', () => {
  it('each program has a separate house in test, and all programs share one in live', () => {
    const [programId = '', other = ''] = programs;
    expect(houseOf({ environment: 'live', programId })).toBe(houseOf({ environment: 'live', programId: other }));
    expect(houseOf({ environment: 'test', programId: programId.toUpperCase() })).toBe(programId);
    expect([LIVE_HOUSE, programId].map(environmentOf)).toEqual(['live', 'test']);
  });

  it('the account ids of live’s house are the ones in stored transfers', () => {
    expect(KINDS.map((kind) => [kind, houseLedgerId(kind, LIVE_HOUSE)])).toEqual([
      ['house_fees', '00000000-0000-8000-8000-000000000021'],
      ['house_prizes', '00000000-0000-8000-8000-000000000022'],
      ['external_cash', '00000000-0000-8000-8000-000000000023'],
      ['house_purses', '00000000-0000-8000-8000-000000000024'],
    ]);
  });

  it('no two houses share an account', () => {
    const ids = houses.flatMap((houseId) => KINDS.map((kind) => houseLedgerId(kind, houseId)));
    expect(new Set(ids).size).toBe(houses.length * KINDS.length);
  });
});

describe('properties of a book', () => {
  it('every transfer stays within its player’s house', () => {
    fc.assert(
      fc.property(fc.array(posting, { maxLength: 40 }), (postings) => {
        const book = openBook(rows);
        for (const each of postings) book.post(each);
        const { lines, players, house } = book.changes();
        for (const line of lines) {
          if (line.state !== 'posted') throw new Error('no tombstone was put');
          const row = rows.find(({ id }) => id === line.ledgerId);
          const accounts = KINDS.map((kind) => houseLedgerId(kind, row?.houseId ?? ''));
          expect(line.houseId).toBe(row?.houseId);
          expect(accounts).toContain(line.debitId === line.ledgerId ? line.creditId : line.debitId);
        }
        for (const houseId of houses) {
          const moved = players.filter((row) => row.houseId === houseId).map((row) => row.balanceCents - 1_000_000n);
          const against = house.filter((row) => row.houseId === houseId).map((row) => BigInt(row.deltaCents));
          expect([...moved, ...against].reduce((sum, each) => sum + each, 0n)).toBe(0n);
        }
      }),
    );
  });
});
