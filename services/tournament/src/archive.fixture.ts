/** Inserts old rounds that were cancelled, for the tests of the deletion of months. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { putSigningKey } from '@laurel/attempts';
import { type Month, writeMonth } from '@laurel/attempts/archive';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase, type TestDatabase } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { archivedMonths } from './archived-months.ts';
import { sortKeyOf } from './domain/board-sort-key.ts';
import { entryIdOf } from './domain/entry-decision.ts';
import { ROUND_TERMS, TERMS } from './domain/example.ts';
import { insertTournament } from './repository/tournaments.ts';
import { HOUR_MS, SIGNER } from './tournament.fixture.ts';

/** One player's only attempt in a round. */
export interface Played {
  readonly status: 'settled' | 'expired' | 'voided' | 'refused';
  readonly text: string;
  readonly score: number;
}

const INSERT_ROUND = {
  text: `
with opened as (
  insert into rounds (id, tournament_id, program_id, environment, number, status, opens_at, entries_close_at, closes_at, direction,
    entry_fee_cents, attempt_cap, purse_cents, min_entrants, min_scored_attempts, created_at)
  select $1, n.id, n.program_id, n.environment, $3, 'cancelled', $4, $4, $5, n.direction, n.entry_fee_cents, n.attempt_cap,
    n.purse_cents, n.min_entrants, n.min_scored_attempts, $4
  from tournaments n where n.id = $2
)
insert into round_tallies (round_id, entrants, scored_players, scored_attempts) values ($1, $6, $6, $6)`,
};
const INSERT_ENTRY = {
  text: `
insert into entries (id, round_id, account_id, created_at, bought_at, best_attempt_id, best_score, best_score_at, best_player_ref, sort_key)
values ($1, $2, $3, $4, $5, $6, $7, $5, $8, $9)`,
};
const INSERT_ATTEMPT = {
  text: `
insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at, closed_reason)
values ($1, $2, $3, $4, $5, $6, 500, $7, $8, $9)`,
};
const INSERT_OUTCOME = {
  text: `
insert into outcomes (attempt_id, receipt_id, score, recorded_at, receipt, signature, signing_key_id)
values ($1, $2, $3, $4, $5, $6, $7)`,
};
const INSERT_EXPIRED = {
  text: `
with entrant as (
  select gen_random_uuid() as id, gen_random_uuid() as account_id, number from generate_series(1, $3::int) as number
), entered as (
  insert into entries (id, round_id, account_id, created_at) select id, $1, account_id, $2 from entrant
)
insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at)
select i.id, $1, e.id, e.account_id, 'p', 'expired', 500, '{}', $2
from unnest($4::uuid[]) with ordinality as i (id, position) join entrant e on e.number = (i.position + 1) / 2`,
};

/** A database of the tournament service, with a tournament and a folder for its archive. */
export interface ArchiveHost extends AsyncDisposable {
  readonly scratch: TestDatabase;
  /** As the superuser. */
  readonly database: Database;
  /** The folder of the archive. */
  readonly root: string;
  /**
   * Inserts a cancelled round that was open for an hour from `opensAt` on. Each of `played` is of
   * another player; `expiredEntries` more have two expired attempts each.
   */
  insertRound(
    opensAt: Date,
    attempts: { readonly played?: readonly Played[]; readonly expiredEntries?: number },
  ): Promise<string>;
  write(month: Month): ReturnType<typeof writeMonth>;
}

export async function startArchiveHost(): Promise<ArchiveHost> {
  await using held = new AsyncDisposableStack();
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  const database = held.use(createDatabase({ url: scratch.url, maxConnections: 3, applicationName: 'archive-test' }));
  const signingKeyId = await putSigningKey(database, SIGNER.publicKey);
  const tournamentId = newId();
  await insertTournament(database, {
    id: tournamentId,
    tenant: { programId: newId(), environment: 'live' },
    status: 'active',
    terms: TERMS,
    createdAt: new Date(0),
  });
  const root = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
  held.defer(() => rm(root, { recursive: true }));

  async function insertPlayed(roundId: string, { status, text, score }: Played, at: Date): Promise<void> {
    const [id, accountId, receiptId] = [newOwnedId('tournament', at), newId(), newId(at)];
    const entryId = entryIdOf(roundId, accountId);
    const playerRef = `p${text}`;
    const isScored = status === 'settled';
    const sortKey = isScored ? sortKeyOf({ entryId, score, tiebreak: null, at }, ROUND_TERMS) : null;
    const best = isScored ? [at, id, score, playerRef, sortKey] : [null, null, null, null, null];
    await database.query(INSERT_ENTRY, [entryId, roundId, accountId, at, ...best]);
    const reason = status === 'voided' || status === 'refused' ? 'abandoned' : null;
    const metadata = JSON.stringify({ text });
    await database.query(INSERT_ATTEMPT, [id, roundId, entryId, accountId, playerRef, status, metadata, at, reason]);
    if (!isScored) return;
    const { canonical, signature } = SIGNER.sign({
      attempt_id: id,
      receipt_id: receiptId,
      tournament_round_id: roundId,
      score,
      evidence: { text },
      recorded_at: at.toISOString(),
    });
    await database.query(INSERT_OUTCOME, [id, receiptId, score, at, canonical, signature, signingKeyId]);
  }

  let rounds = 0;
  const cleanup = held.move();
  return {
    scratch,
    database,
    root,
    async insertRound(opensAt, { played = [], expiredEntries = 0 }) {
      rounds += 1;
      const id = newId(opensAt);
      const scored = played.filter(({ status }) => status === 'settled').length;
      await database.query(INSERT_ROUND, [id, tournamentId, rounds, opensAt, later(opensAt, HOUR_MS), scored]);
      for (const [index, attempt] of played.entries()) await insertPlayed(id, attempt, later(opensAt, index));
      const ids = Array.from({ length: 2 * expiredEntries }, (_, index) =>
        newOwnedId('tournament', later(opensAt, index)),
      );
      await database.query(INSERT_EXPIRED, [id, opensAt, expiredEntries, ids]);
      return id;
    },
    write: (month) => writeMonth(month, { database, signer: SIGNER, root, source: archivedMonths }),
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}
