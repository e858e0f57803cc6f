import { newId } from '@laurel/ids';
import { LAST_INSTANT } from '@laurel/instant';
import type { Database } from '@laurel/postgres';
import { createDatabaseBefore } from '@laurel/testing';
import { expect, it } from 'vitest';

const MIGRATIONS = new URL('../migrations/', import.meta.url);

/** A tournament with one open round, as the release before wrote them. */
async function insertRound(database: Database, opensAt: string, entriesCloseAt: string, closesAt: string) {
  const [tournamentId, programId, roundId] = [newId(), newId(), newId()];
  await database.query(
    {
      text: `insert into tournaments (id, program_id, environment, status, name, metric_name, metric_unit, direction, entry_fee_cents,
          attempt_cap, purse_cents, min_entrants, min_scored_attempts, created_at)
        values ($1, $2, 'live', 'active', 'Cup', 'score', 'points', 'higher_is_better', 100, 1, '{100}', 1, 0, now())`,
    },
    [tournamentId, programId],
  );
  await database.query(
    {
      text: `insert into rounds (id, tournament_id, program_id, environment, number, status, opens_at, entries_close_at, closes_at,
          direction, entry_fee_cents, attempt_cap, purse_cents, min_entrants, min_scored_attempts, created_at)
        values ($1, $2, $3, 'live', 1, 'open', $4, $5, $6, 'higher_is_better', 100, 1, '{100}', 1, 0, now())`,
    },
    [roundId, tournamentId, programId, opensAt, entriesCloseAt, closesAt],
  );
  return roundId;
}

it('the migration that bounds instants moves a round beyond them to the bounds, and no other', async () => {
  await using older = await createDatabaseBefore({ migrations: MIGRATIONS, before: '0012' });
  const insert = insertRound.bind(null, older.database);
  const late = ['9999-12-31T23:49:59-05:00', '9999-12-31T23:59:59-05:00'] as const;
  const fine = ['2026-01-01T00:00:00Z', '2026-01-01T00:50:00Z', '2026-01-01T01:00:00Z'] as const;
  const ids = [
    await insert('2026-01-01T00:00:00Z', ...late),
    await insert('9999-12-31T20:00:00-05:00', ...late),
    await insert('0001-01-01T00:00:00Z', fine[1], fine[2]),
    await insert(...fine),
  ];
  await older.migrate();
  const text = `select opens_at, entries_close_at, closes_at from rounds order by array_position($1::uuid[], id)`;
  const entriesCloseAt = new Date('9998-12-31T23:50:00Z');
  const [opens_at, entries_close_at, closes_at] = fine.map((instant) => new Date(instant));
  expect(await older.database.query({ text }, [ids])).toEqual([
    { opens_at, entries_close_at: entriesCloseAt, closes_at: LAST_INSTANT },
    { opens_at: new Date('9998-12-31T00:00:00Z'), entries_close_at: entriesCloseAt, closes_at: LAST_INSTANT },
    { opens_at: new Date('1900-01-01T00:00:00Z'), entries_close_at, closes_at },
    { opens_at, entries_close_at, closes_at },
  ]);
  await expect(insert('2026-01-01T00:00:00Z', ...late)).rejects.toThrow('rounds_lie_within_bounds');
  const change = { text: 'update rounds set attempt_cap = 2' };
  await expect(older.database.query(change)).rejects.toThrow('the terms of a round never change');
});
