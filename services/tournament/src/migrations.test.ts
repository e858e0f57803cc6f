import type { Database } from '@laurel/postgres';
import { createDatabaseBefore } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { LAST_INSTANT } from '@laurel/values/instant';
import { expect, it } from 'vitest';

const MIGRATIONS = new URL('../migrations/', import.meta.url);

/** A tournament with one open round, as the previous release wrote them. */
async function insertRound(
  database: Database,
  opensAt: string,
  entriesCloseAt: string,
  closesAt: string,
  { name = 'Cup', seconds = null }: { readonly name?: string; readonly seconds?: number | null } = {},
) {
  const [tournamentId, programId, roundId] = [newId(), newId(), newId()];
  await database.query(
    {
      text: `insert into tournaments (id, program_id, environment, status, name, metric_name, metric_unit, direction, entry_fee_cents,
          attempt_cap, purse_cents, min_entrants, min_scored_attempts, created_at, round_length_seconds)
        values ($1, $2, 'live', 'active', $3, 'score', 'points', 'higher_is_better', 100, 1, '{100}', 1, 0, now(), $4)`,
    },
    [tournamentId, programId, name, seconds],
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

it('the migration that bounds instants moves the times of a round into the bounds', async () => {
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

it('the migration lengthens future rounds to eleven minutes and leaves existing rounds unchanged', async () => {
  await using older = await createDatabaseBefore({ migrations: MIGRATIONS, before: '0014' });
  const short = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:05:00Z'] as const;
  await insertRound(older.database, ...short, { name: 'a', seconds: 601 });
  await insertRound(older.database, ...short, { name: 'b', seconds: 661 });
  await insertRound(older.database, ...short, { name: 'c' });
  await older.migrate();
  const text = `select round_length_seconds as seconds, r.closes_at - r.opens_at = '5 minutes' as is_short
    from tournaments t join rounds r on r.tournament_id = t.id order by name`;
  expect(await older.database.query({ text })).toEqual(
    [660, 661, null].map((seconds) => ({ seconds, is_short: true })),
  );
  await expect(insertRound(older.database, ...short)).rejects.toThrow('a round lasts at least eleven minutes');
  const change = { text: 'update tournaments set round_length_seconds = 900' };
  await expect(older.database.query(change)).rejects.toThrow('the terms of a tournament never change');
});
