/**
 * Migration 0009, on older rounds. Before it, an account counted as an entrant even after its last
 * fee was returned.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, playersOf, startHarness } from './repository.fixture.ts';
import { findRound } from './rounds.ts';

const MIGRATION = new URL('../../migrations/0008_count_entrants_without_refunds.sql', import.meta.url);

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

it('migration 0009 recounts the entrants of open rounds only', async () => {
  const [open, ended] = [await h.openRound({ attemptCap: 2 }), await h.openRound()];
  const players = playersOf(4);
  const attempts = await h.enter(open, [...players, ...players.slice(0, 1)]);
  await h.enter(ended, playersOf(2));
  await h.report(attempts.slice(3, 4).map(({ id }) => ({ attemptId: id, score: 1 })));
  // The first account has another attempt, the second has none, the third was voided, the last one
  // scored.
  await h.database.query({ text: `update attempts set status = 'expired' where id = any($1::uuid[])` }, [
    attempts.slice(0, 2).map(({ id }) => id),
  ]);
  await h.database.query({ text: `update attempts set status = 'voided', closed_reason = 'x' where id = $1` }, [
    attempts[2]?.id,
  ]);
  await h.close(ended.id);
  await h.database.query({ text: 'update round_tallies set entrants = 2 where round_id = $1' }, [ended.id]);
  expect((await findRound(h.database, open.id))?.tally.entrants).toBe(4);
  expect(await h.violations()).not.toEqual([]);

  await h.database.transaction(async (tx) => {
    for (const text of readFileSync(MIGRATION, 'utf8').split(/;\n/)) if (text.trim() !== '') await tx.query({ text });
  });

  expect((await findRound(h.database, open.id))?.tally.entrants).toBe(2);
  expect((await findRound(h.database, ended.id))?.tally.entrants).toBe(2);
  expect(await h.violations()).toEqual([]);
});
