/**
 * An attempt as operators inspect it before they act. The inspection changes nothing, in any state.
 */
import type { Attempt } from '@laurel/proto/attempts';
import { createAttemptInspector, type InspectedContest, itInspectsAttempts } from '@laurel/testing/inspect-attempt';
import { describe, expect, it } from 'vitest';
import { created, FEE, FUNDS, HOUR_MS, PROGRAM, recorded, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

const OWNER: InspectedContest<Attempt> = {
  contestService: 'tournament',
  tenant: PROGRAM,
  harness: h,
  service: () => h.tournament,
  fundsCents: FUNDS,
  feeCents: FEE,
  ttlMs: HOUR_MS,
  ownRows: 'array(select row_to_json(e) from entries e join attempts a on a.entry_id = e.id where a.id = $1)',
  async openAttempt() {
    const { round, player, attempt } = await h.openAttempt({ attemptCap: 10 });
    return { attempt, player, again: async (attemptId) => created(await h.create(round.id, player.ref, attemptId)) };
  },
  async pendingAttempt() {
    const { round, player, attemptId } = await h.pendingAttempt();
    return { attemptId, player, again: async (id) => created(await h.create(round.id, player.ref, id)) };
  },
  reportOutcome: async (attemptId) => recorded(await h.report(attemptId, 99)),
};

const { inspect, expectUntouched } = createAttemptInspector(OWNER);

describe('an attempt that an operator inspects', () => {
  itInspectsAttempts(OWNER);

  it('an inspection leaves an attempt open, even after the end of its round', async () => {
    const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const attempt = created(await h.create(round.id, player.ref));
    h.clock.advance(HOUR_MS / 2);
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });
});
