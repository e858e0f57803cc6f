/**
 * Which accounts become entrants of a round by the commit that opens their attempts, also after the
 * commit waited for commits that changed the entrants.
 */
import { createAttemptOpener } from '@laurel/attempts';
import { createLogger } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findAttempt } from './attempts.ts';
import { addEntrantsStatement, lockEntrants, removeEntrants } from './entries.ts';
import { type Harness, NOW, playersOf, startHarness } from './repository.fixture.ts';
import { findRound } from './rounds.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

/** Opens attempts as the service does. */
const open = (attemptId: string, feeGeneration = 0) =>
  createAttemptOpener({
    contestService: 'tournament',
    database: h.database,
    logger: createLogger({ service: 'tournament', level: 'silent' }),
    whenOpened: (attemptIds) => addEntrantsStatement(attemptIds, NOW),
  }).open({ attemptId, feeGeneration });

async function end(attemptId: string, status: 'refused' | 'voided'): Promise<void> {
  const text = `update attempts set status = $2, closed_reason = 'insufficient_funds' where id = $1`;
  await h.database.query({ text }, [attemptId, status]);
}

async function statusOf(attemptId: string) {
  return (await findAttempt(h.database, attemptId))?.attempt.status;
}

/** Resolves once a session waits for the transaction that holds an attempt. */
async function untilOneWaits(): Promise<void> {
  const text = `
select count(*)::int as count from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query like '%update attempts a set status = ''open''%'`;
  await vi.waitFor(async () => expect((await h.database.query<{ count: number }>({ text }))[0]?.count).toBe(1), 10_000);
}

describe('an attempt that opens', () => {
  it('opening an attempt makes its account an entrant in the same commit', async () => {
    const round = await h.openRound();
    const [attempt] = await h.begin(round, playersOf(1));
    if (attempt === undefined) throw new Error('no attempt');
    const transaction = vi.spyOn(h.database, 'transaction');
    expect(await open(attempt.id)).toBe(true);
    expect(transaction).not.toHaveBeenCalled();
    transaction.mockRestore();
    const versions = `
select a.status, a.xmin = e.xmin and e.xmin = t.xmin as together, t.entrants
from attempts a join entries e on e.id = a.entry_id join round_tallies t on t.round_id = a.round_id where a.id = $1`;
    expect(await h.database.query({ text: versions }, [attempt.id])).toEqual([
      { status: 'open', together: true, entrants: 1 },
    ]);
    expect(await h.violations()).toEqual([]);
  });

  it('an attempt counts once for its entrant, however often it is opened', async () => {
    const round = await h.openRound();
    const attempts = await h.begin(round, playersOf(5));
    const [first = '', refused = '', voided = '', settled = '', pending = ''] = attempts.map(({ id }) => id);
    await end(refused, 'refused');
    await end(voided, 'voided');
    expect(await Promise.all([open(first), open(first), open(settled)])).toEqual([true, true, true]);
    await h.report([{ attemptId: settled, score: 1 }]);
    for (const id of [first, refused, voided, settled]) expect(await open(id)).toBe(true);
    expect(await open(pending, 1)).toBe(true);
    expect(await Promise.all([first, refused, voided, settled, pending].map(statusOf))).toEqual([
      'open',
      'refused',
      'voided',
      'settled',
      'pending',
    ]);
    expect((await findRound(h.database, round.id))?.tally.entrants).toBe(2);
    expect(await h.violations()).toEqual([]);
  });

  it('an account stays an entrant if one attempt opens while its last other attempt ends', async () => {
    const round = await h.openRound();
    const players = [{ accountId: newId(), playerRef: 'player' }];
    const [last] = await h.enter(round, players);
    const [next] = await h.begin(round, players);
    if (last === undefined || next === undefined) throw new Error('no attempt');
    const opening = await h.database.transaction(async (tx) => {
      await lockEntrants(tx, [last.id]);
      await tx.query({ text: `update attempts set status = 'expired' where id = $1` }, [last.id]);
      await removeEntrants(tx, [last.id]);
      expect((await findRound(tx, round.id))?.tally.entrants).toBe(0);
      const isOpen = open(next.id);
      await untilOneWaits();
      return { isOpen };
    });
    expect(await opening.isOpen).toBe(true);
    expect((await findRound(h.database, round.id))?.tally.entrants).toBe(1);
    expect(await h.violations()).toEqual([]);
  });
});
