import { FIRST_INSTANT, LAST_INSTANT, later } from '@laurel/values/instant';
import { describe, expect, it } from 'vitest';
import { after, NOW, ROUND_ID, ROUND_TERMS, TENANT, TERMS, TOURNAMENT } from './example.ts';
import { decideRound, nextRound } from './round-opening.ts';

const NEXT = { id: ROUND_ID, number: 5, now: NOW };

describe('the next round', () => {
  it('the next round opens now with the terms of its tournament', () => {
    expect(nextRound({ ...NEXT, tournament: TOURNAMENT })).toEqual({
      id: ROUND_ID,
      tournamentId: 'tournament',
      tournamentName: 'Weekend cup',
      tenant: TENANT,
      number: 5,
      status: 'open',
      opensAt: NOW,
      entriesCloseAt: after(6_600_000),
      closesAt: after(7_200_000),
      settledAt: null,
      cancellation: null,
      terms: ROUND_TERMS,
      createdAt: NOW,
    });
  });

  it('the next round of a paused or closed tournament does not open automatically', () => {
    for (const status of ['paused', 'closed'] as const) {
      expect(nextRound({ ...NEXT, tournament: { ...TOURNAMENT, status } })).toBeNull();
    }
    const manual = { ...TOURNAMENT, terms: { ...TERMS, roundLengthSeconds: null } };
    expect(nextRound({ ...NEXT, tournament: manual })).toBeNull();
  });
});

describe("an operator's round", () => {
  const asked = { ...NEXT, tournament: TOURNAMENT, hasOpenRound: false, opensAt: null, closesAt: after(3_600_000) };

  it("an operator's round opens now unless it has an opening time", () => {
    expect(decideRound(asked)).toMatchObject({
      kind: 'opened',
      round: { opensAt: NOW, entriesCloseAt: after(3_000_000), closesAt: after(3_600_000), createdAt: NOW },
    });
    expect(decideRound({ ...asked, opensAt: after(1_000) })).toMatchObject({ round: { opensAt: after(1_000) } });
    expect(decideRound({ ...asked, closesAt: after(660_000) })).toMatchObject({
      round: { entriesCloseAt: after(60_000) },
    });
  });

  it('an operator’s round must end after its beginning and in the future', () => {
    const invalid = { kind: 'refused', code: 'invalid_request' };
    expect(decideRound({ ...asked, closesAt: NOW })).toMatchObject(invalid);
    expect(decideRound({ ...asked, opensAt: asked.closesAt })).toMatchObject(invalid);
    expect(decideRound({ ...asked, opensAt: later(asked.closesAt, 1) })).toMatchObject(invalid);
    expect(decideRound({ ...asked, closesAt: after(-1) })).toMatchObject(invalid);
    expect(decideRound({ ...asked, opensAt: after(-2), closesAt: NOW })).toMatchObject(invalid);
  });

  it('an operator’s round must lie between the years 1900 and 9999', () => {
    const invalid = { kind: 'refused', code: 'invalid_request' };
    expect(decideRound({ ...asked, closesAt: LAST_INSTANT })).toMatchObject({ round: { closesAt: LAST_INSTANT } });
    expect(decideRound({ ...asked, opensAt: FIRST_INSTANT })).toMatchObject({ round: { opensAt: FIRST_INSTANT } });
    for (const closesAt of [later(LAST_INSTANT, 1), new Date('9999-12-31T23:59:59-05:00'), new Date(Number.NaN)]) {
      expect(decideRound({ ...asked, closesAt })).toMatchObject(invalid);
    }
    for (const opensAt of [later(FIRST_INSTANT, -1), new Date(Number.NaN)]) {
      expect(decideRound({ ...asked, opensAt })).toMatchObject(invalid);
    }
  });

  it('an operator’s round is refused while another round is open', () => {
    const conflict = { kind: 'refused', code: 'conflict' };
    expect(decideRound({ ...asked, hasOpenRound: true })).toMatchObject(conflict);
    for (const status of ['paused', 'closed'] as const) {
      expect(decideRound({ ...asked, tournament: { ...TOURNAMENT, status } })).toMatchObject(conflict);
    }
  });
});
