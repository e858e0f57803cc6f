/**
 * The fixture of the repository's tests: a database for each, and rounds that are played as the
 * handlers play them.
 */

import { putSigningKey } from '@laurel/attempts';
import { type CheckResult, createDatabase, createSlicedAudit, type Database } from '@laurel/postgres';
import { createSigner } from '@laurel/signature';
import { createTestDatabase } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { expect } from 'vitest';
import { entryIdOf } from '../domain/entry-decision.ts';
import { decideClose, entriesCloseAt } from '../domain/round-status.ts';
import type { Attempt, Round, RoundTerms, Tenant, Tournament, TournamentTerms } from '../domain/tournament.ts';
import { insertAttempts, lockOnBoards } from './attempts.ts';
import { CHECKS, ENVIRONMENTS, runOwnChecks } from './audit.ts';
import { START_SUMS, WALKS } from './audit-walks.ts';
import { scoresOf } from './best-runs.ts';
import { writeBoards } from './board.ts';
import { addEntrantsStatement } from './entries.ts';
import { insertOutcomes } from './outcomes.ts';
import { changeRoundStatus, insertRound } from './rounds.ts';
import {
  decideStandings,
  endOpenAttempts,
  type HeldRound,
  lockRoundToEnd,
  refundSettledAttempts,
} from './settlement.ts';
import { insertTournament } from './tournaments.ts';

export const TENANT: Tenant = { programId: '11111111-1111-8111-8111-111111111111', environment: 'test' };
export const NOW = new Date('2026-11-21T12:00:00.000Z');
export const HOUR_MS = 3_600_000;

export const TERMS: TournamentTerms = {
  name: 'Weekend cup',
  description: null,
  metricName: 'distance',
  metricUnit: 'm',
  direction: 'higher_is_better',
  tiebreak: null,
  entryFeeCents: cents(500n),
  attemptCap: 1_000,
  purse: [cents(10_000n), cents(5_000n), cents(5_000n)],
  minEntrants: 1,
  minScoredAttempts: 0,
  roundLengthSeconds: null,
};

/** The signer of receipts and seals in these tests. */
export const SIGNER = createSigner(Buffer.alloc(32, 7));

export type Player = { readonly accountId: string; readonly playerRef: string };

export type Report = {
  readonly attemptId: string;
  readonly score: number;
  readonly tiebreak?: number | null;
};

export interface Harness extends AsyncDisposable {
  readonly database: Database;
  /** A tournament with these terms, and its first round, which is open from `NOW` for two hours. */
  openRound(terms?: Partial<TournamentTerms>, tenant?: Tenant): Promise<Round>;
  /** Inserts one pending attempt for each player, in one batch. */
  begin(round: Round, players: readonly Player[], now?: Date): Promise<readonly Attempt[]>;
  /** Moves the attempts `pending -> open`, and makes their accounts entrants. */
  open(attempts: readonly Pick<Attempt, 'id'>[], now?: Date): Promise<void>;
  /** Begins the attempts, then opens them. */
  enter(round: Round, players: readonly Player[], now?: Date): Promise<readonly Attempt[]>;
  /** Records one batch of outcomes, which all settle. */
  report(reports: readonly Report[], now?: Date, options?: { readonly chunkEntries?: number }): Promise<void>;
  /** Makes the commit that decides a round. */
  close(roundId: string, now?: Date): Promise<HeldRound>;
  /**
   * Inserts `entries` scored entries by SQL, straight into the tables. Scores are above 0 and at
   * most 1; lower is better.
   */
  fill(round: Round, entries: number): Promise<void>;
  /** The violations of the service's own checks. The audit in slices must find the same. */
  violations(): Promise<readonly string[]>;
}

export async function startHarness(): Promise<Harness> {
  const scratch = await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) });
  const database = createDatabase({ url: scratch.url, maxConnections: 8, applicationName: 'tournament-test' });
  const signingKeyId = await putSigningKey(database, SIGNER.publicKey);

  async function openRound(changes: Partial<TournamentTerms> = {}, tenant = TENANT): Promise<Round> {
    const tournament: Tournament = {
      id: newId(),
      tenant,
      status: 'active',
      terms: { ...TERMS, ...changes },
      createdAt: NOW,
    };
    await insertTournament(database, tournament);
    const round = roundOf(tournament);
    if (!(await insertRound(database, round))) throw new Error('the round did not open');
    return round;
  }

  async function begin(round: Round, players: readonly Player[], now = NOW): Promise<readonly Attempt[]> {
    const attempts = players.map((player): Attempt => attemptOf(round, player, now));
    await insertAttempts(
      database,
      attempts.map((attempt) => ({ attempt, idempotencyUse: null })),
    );
    return attempts;
  }

  async function open(attempts: readonly Pick<Attempt, 'id'>[], now = NOW): Promise<void> {
    const ids = attempts.map(({ id }) => id);
    const opening = { text: `update attempts set status = 'open' where id = any($1::uuid[])` };
    await database.batch([{ statement: opening, values: [ids] }, addEntrantsStatement(ids, now)]);
  }

  return {
    database,
    openRound,
    begin,
    open,
    async enter(round, players, now = NOW) {
      const attempts = await begin(round, players, now);
      await open(attempts, now);
      return attempts;
    },
    async report(reports, now = NOW, options) {
      await database.transaction(async (tx) => {
        const found = await lockOnBoards(
          tx,
          reports.map(({ attemptId }) => attemptId),
        );
        const runs = reports.map(({ attemptId, score, tiebreak = null }) => {
          const on = found.get(attemptId);
          if (on?.attempt.status !== 'open' || on.round.status !== 'open') throw new Error(`${attemptId} is not open`);
          const { attempt, entry, round } = on;
          const counted = round.terms.tiebreak === null ? null : tiebreak;
          const run = { attemptId, score: score + 0, tiebreak: counted, at: now, playerRef: attempt.playerRef };
          return { entry, rules: round.terms, run };
        });
        const signed = runs.map(({ run }) => {
          const { canonical, signature } = SIGNER.sign({ attempt_id: run.attemptId });
          const { attemptId, score, tiebreak } = run;
          const outcome = { attemptId, receiptId: newId(), score, tiebreak, recordedAt: now };
          return { outcome, receipt: canonical, signature };
        });
        await tx.commitWith((last) =>
          Promise.all([insertOutcomes(last, signed, signingKeyId), writeBoards(last, scoresOf(runs), options)]),
        );
      });
    },
    async close(roundId, now = NOW) {
      return await database.transaction(
        async (tx) => {
          const held = await lockRoundToEnd(tx, roundId);
          if (held === null || held.round.status !== 'open' || held.pending > 0)
            throw new Error('the round cannot be closed');
          const status = decideClose(held.tally, held.round);
          await changeRoundStatus(tx, roundId, 'open', status);
          if (status === 'settling') {
            await decideStandings(tx, held, now);
            await endOpenAttempts(tx, roundId, 'round_closed', now);
          } else {
            await refundSettledAttempts(tx, roundId, now);
            await endOpenAttempts(tx, roundId, 'round_cancelled', now);
          }
          return held;
        },
        { statementTimeoutMs: 60_000 },
      );
    },
    fill: (round, entries) => fill(database, round, entries, signingKeyId),
    async violations() {
      const results = await runOwnChecks(database);
      const sliced = createSlicedAudit({
        database,
        checks: CHECKS,
        walks: WALKS,
        environments: ENVIRONMENTS,
        startSums: START_SUMS,
        maxPageSize: 100,
      });
      expect((await sliced.run()).map(counted)).toEqual(results.map(counted));
      return results
        .filter((result) => result.violations > 0n)
        .map((result) => `${result.id}: ${result.examples.join(', ')}`);
    },
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await scratch[Symbol.asyncDispose]();
    },
  };
}

const counted = ({ id, violations, testViolations }: CheckResult) => ({ id, violations, testViolations });

export function roundOf(tournament: Tournament, changes: Partial<Round> = {}): Round {
  const { name, description, roundLengthSeconds, ...terms } = tournament.terms;
  const opensAt = NOW;
  const closesAt = new Date(NOW.getTime() + 2 * HOUR_MS);
  return {
    id: newId(),
    tournamentId: tournament.id,
    tournamentName: name,
    tenant: tournament.tenant,
    number: 1,
    status: 'open',
    opensAt,
    entriesCloseAt: entriesCloseAt({ opensAt, closesAt }),
    closesAt,
    settledAt: null,
    cancellation: null,
    terms: terms satisfies RoundTerms,
    createdAt: NOW,
    ...changes,
  };
}

export function playersOf(count: number): readonly Player[] {
  return Array.from({ length: count }, (_, index) => ({ accountId: newId(), playerRef: `player-${index}` }));
}

function attemptOf(round: Round, { accountId, playerRef }: Player, now: Date): Attempt {
  return {
    id: newOwnedId('tournament'),
    roundId: round.id,
    entryId: entryIdOf(round.id, accountId),
    accountId,
    playerRef,
    status: 'pending',
    feeCents: round.terms.entryFeeCents,
    metadata: '{}',
    createdAt: now,
    feeGeneration: 0,
    closedReason: null,
  };
}

// A sort key in the encoding of domain/board-sort-key.ts, for a positive score where lower is
// better and there is no tiebreak.
const FILL = {
  text: `
with generated as materialized (
  select gen_random_uuid() as entry_id, gen_random_uuid() as attempt_id, gen_random_uuid() as account_id, i, 1 / (1 + random() * i) as score
  from generate_series(1, $2::int) i
), entered as (
  insert into entries (id, round_id, account_id, created_at, bought_at, best_attempt_id, best_score, best_score_at, best_player_ref, sort_key)
  select entry_id, $1, account_id, $3, $3, attempt_id, score, $3, 'player-' || i,
    set_byte(float8send(score), 0, get_byte(float8send(score), 0) | 128) || '\\x01'::bytea || decode(repeat('00', 8), 'hex')
      || substring(int8send((extract(epoch from $3::timestamptz) * 1000)::bigint) from 3) || uuid_send(entry_id)
  from generated
  returning sort_key
), attempted as (
  insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at)
  select attempt_id, $1, entry_id, account_id, 'player-' || i, 'settled', $4, '{}', $3 from generated
), settled as (
  insert into outcomes (attempt_id, receipt_id, score, recorded_at, receipt, signature, signing_key_id)
  select attempt_id, gen_random_uuid(), score, $3, '{"attempt_id":"' || attempt_id || '"}', decode(repeat('00', 64), 'hex'), $5
  from generated
), tallied as (
  update round_tallies set entrants = $2, scored_players = $2, scored_attempts = $2 where round_id = $1
), piece as (
  select (n - 1) / 512 as number, min(sort_key) as lower_sort_key, count(*) as entries
  from (select sort_key, row_number() over (order by sort_key) as n from entered) numbered
  group by 1
), counted as (
  update board_chunks set entries = (select entries from piece where number = 0) where round_id = $1
)
insert into board_chunks (round_id, lower_sort_key, entries) select $1, lower_sort_key, entries from piece where number > 0`,
};

async function fill(database: Database, round: Round, entries: number, signingKeyId: number): Promise<void> {
  if (round.terms.direction !== 'lower_is_better') throw new Error('fill only makes scores for lower_is_better');
  await database.transaction(
    (tx) => tx.query(FILL, [round.id, entries, NOW, round.terms.entryFeeCents, signingKeyId]),
    { statementTimeoutMs: 300_000 },
  );
}
