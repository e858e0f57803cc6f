/** Attempts as developers and operators see them: the list, and the history of one. */
import { ItemKind } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { itDescribesAttempts, itListsAttempts, itLooksUpIds, type ListedContest } from '@laurel/testing/list-attempts';
import { describe, expect, it } from 'vitest';
import { created, FEE, FUNDS, HOUR_MS, PROGRAM, recorded, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

const OWNER: ListedContest = {
  contestService: 'tournament',
  tenant: PROGRAM,
  harness: h,
  service: () => h.tournament,
  fundsCents: FUNDS,
  feeCents: FEE,
  ttlMs: HOUR_MS,
  ownRows: 'array(select row_to_json(e) from entries e join attempts a on a.entry_id = e.id where a.id = $1)',
  insertRefused: `
insert into attempts (id, round_id, entry_id, account_id, player_ref, status, closed_reason, fee_cents, metadata, created_at)
select i.id, round_id, entry_id, account_id, player_ref, 'refused', 'a test', fee_cents, metadata, $3
from attempts a, unnest($2::uuid[]) i (id) where a.id = $1`,
  async openAttempt() {
    const { round, player, attempt } = await h.openAttempt({ attemptCap: 100 });
    return { attempt, player, again: async (id) => created(await h.create(round.id, player.ref, id)) };
  },
  async pendingAttempt() {
    const { round, player, attemptId } = await h.pendingAttempt();
    return { attemptId, player, again: async (id) => created(await h.create(round.id, player.ref, id)) };
  },
  reportOutcome: async (attemptId) => recorded(await h.report(attemptId, 99)),
};

describe('the attempts of rounds that developers and operators list', () => {
  itListsAttempts(OWNER);
  itDescribesAttempts(OWNER);
  itLooksUpIds(OWNER);

  it('a look-up by the id of a tournament returns the tournament', async () => {
    const { tournamentId } = await h.openRound();
    expect(expectAccepted(await h.tournament.lookUpId({ id: tournamentId })).items).toMatchObject([
      { kind: ItemKind.TOURNAMENT, tenant: PROGRAM },
    ]);
  });
});
