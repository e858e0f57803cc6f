// Boards of their designed size: reads and writes on a round of a million players beside a round of
// a thousand, and the end of a round of a hundred thousand. The players are written directly to the
// tournament service's tables, equal except for the score. All measured calls go through the
// service.
import { createClient, openChannelIdentity } from '@laurel/grpc';
import { Environment } from '@laurel/proto/common';
import { TournamentServiceClient } from '@laurel/proto/tournament';
import { Laurel } from '@laurel/sdk';
import type { Stack } from '@laurel/testing';
import { HttpConnection } from './http-connection.ts';
import { type BenchProgram, runRoundFlow } from './paid-flow.ts';
import { post, ROUND_TERMS } from './setup.ts';
import { percentiles } from './statistics.ts';

const SMALL = 1_000;
const READS = 2_000;
const WRITES = 300;
const SETTLED = 100_000;
const SETTLE_LIMIT_MS = 120_000;
/**
 * The players of the flows score below 10,000, so they rank anywhere on the lower part of a board.
 */
const BEST_SCORE = 100_000;
/** Players whose refs the service knows, so that boards can be rendered for them. */
const NAMED_PLAYERS = 20_000;

/** Rows of a printed table; the first is its head. */
export async function measureBoards(
  stack: Stack,
  program: BenchProgram,
  entries: number,
): Promise<(string | number)[][]> {
  const rows: (string | number)[][] = [['boards', 'p50 ms', 'p99 ms']];
  for (const size of [SMALL, entries]) {
    const roundId = await openBoard(stack, program, { entries: size, worstScore: 0, bestScore: BEST_SCORE });
    const read = await readRanks(stack, program, roundId, size);
    rows.push([`rank and neighbours among ${named(size)}, at the service`, read.p50Ms, read.p99Ms]);
    const write = await playOn(stack, { ...program, roundId }, WRITES);
    rows.push([`entry and score among ${named(size)}, over HTTP`, write.p50Ms, write.p99Ms]);
  }
  rows.push([`a round of ${named(SETTLED)} from its close to settled`, await settleBoard(stack, program), '']);
  return rows;
}

/** A round of a separate tournament, whose players have scores spread evenly between two scores. */
async function openBoard(stack: Stack, program: BenchProgram, filling: Filling): Promise<string> {
  const tournament = await post(
    `${stack.baseUrl}/api/operator/programs/${program.programId}/tournaments`,
    { authorization: `Bearer ${stack.operatorToken}` },
    { ...ROUND_TERMS, name: `Board of ${filling.entries}` },
  );
  const roundId = (tournament.current_round as { id: string }).id;
  await fillBoard(stack, roundId, filling);
  return roundId;
}

interface Filling {
  readonly entries: number;
  readonly worstScore: number;
  readonly bestScore: number;
}

async function fillBoard(stack: Stack, roundId: string, { entries, worstScore, bestScore }: Filling): Promise<void> {
  const database = stack.database('tournament');
  // Higher is better, so a better score has smaller bytes (the encoding is in
  // services/tournament/src/domain/board-sort-key.ts).
  await database.query(
    `with scored as materialized (
       select gen_random_uuid() as entry_id, gen_random_uuid() as attempt_id, gen_random_uuid() as account_id, i,
         $3::float8 + random() * ($4::float8 - $3::float8) as score
       from generate_series(1, $2::int) i
     ), refs as (
       insert into entry_refs (round_id, player_ref, account_id) select $1, 'board-' || i, account_id from scored where i <= $5
     ), entered as (
       insert into entries
         (id, round_id, account_id, created_at, bought_at, best_attempt_id, best_score, best_score_at, best_player_ref, sort_key)
       select entry_id, $1, account_id, now(), now(), attempt_id, score, now(), 'board-' || i,
         case when score < 0 then float8send(score)
           else decode(lpad(to_hex(~('x' || encode(float8send(score), 'hex'))::bit(64)::bigint & 9223372036854775807), 16, '0'), 'hex')
         end || '\\x01'::bytea || decode(repeat('00', 8), 'hex')
           || substring(int8send((extract(epoch from now()) * 1000)::bigint) from 3) || uuid_send(entry_id)
       from scored
     ), attempted as (
       insert into attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, metadata, created_at)
       select attempt_id, $1, entry_id, account_id, 'board-' || i, 'settled', 100, '{}', now() from scored
     )
     insert into outcomes (attempt_id, receipt_id, score, recorded_at, receipt, signature, signing_key_id)
     select attempt_id, gen_random_uuid(), score, now(), '{}', decode(repeat('00', 64), 'hex'), (select max(id) from signing_keys)
     from scored`,
    [roundId, entries, worstScore, bestScore, NAMED_PLAYERS],
  );
  await database.query(
    `with piece as (
       select (n - 1) / 700 as number, min(sort_key) as lower_sort_key, count(*) as entries
       from (select sort_key, row_number() over (order by sort_key) as n from entries where round_id = $1 and sort_key is not null) numbered
       group by 1
     ), first as (
       update board_chunks set entries = (select entries from piece where number = 0) where round_id = $1 and lower_sort_key = ''
     )
     insert into board_chunks (round_id, lower_sort_key, entries) select $1, lower_sort_key, entries from piece where number > 0`,
    [roundId],
  );
  await database.query(
    'update round_tallies set entrants = $2::int, scored_players = $2::int, scored_attempts = $2::int where round_id = $1',
    [roundId, entries],
  );
  for (const table of ['entries', 'attempts', 'outcomes']) await database.query(`vacuum (analyze) ${table}`);
  // A real board grows over hours; the disk writes left by this minute are not part of the
  // measurement.
  await database.query('checkpoint');
}

/** One call after the other, each for another player anywhere on the board. */
async function readRanks(stack: Stack, program: BenchProgram, roundId: string, entries: number) {
  const files = await stack.certificateOf('gateway');
  using identity = files && (await openChannelIdentity({ files, reloadMs: 600_000, logger: console }));
  await using tournament = createClient(TournamentServiceClient, {
    name: 'tournament',
    identity,
    address: stack.address('tournament'),
  });
  const tenant = { programId: program.programId, environment: Environment.TEST };
  const latenciesMs: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const playerRef = `board-${1 + Math.floor(Math.random() * Math.min(entries, NAMED_PLAYERS))}`;
    const started = performance.now();
    const answer = await tournament.getLeaderboard({ tenant, roundId, playerRef });
    latenciesMs.push(performance.now() - started);
    if (!('rows' in answer) || answer.rows.length < 2) throw new Error(`the board shows no window to ${playerRef}`);
  }
  // The first calls open connections and plan statements.
  return percentiles(latenciesMs.slice(READS / 10));
}

/**
 * Closes a round of many players, of whom ten real ones lead and are paid. Returns the seconds
 * until it is settled, sealed and paid.
 */
async function settleBoard(stack: Stack, program: BenchProgram): Promise<number> {
  const roundId = await openBoard(stack, program, { entries: SETTLED, worstScore: -BEST_SCORE, bestScore: -1 });
  await playOn(stack, { ...program, roundId }, program.playerRefs.length);
  const limits = { maxRetries: 0, timeoutMs: SETTLE_LIMIT_MS, deadlineMs: SETTLE_LIMIT_MS };
  const { sandbox } = new Laurel({ apiKey: program.testKey, baseUrl: stack.baseUrl, ...limits });
  const close = () =>
    sandbox.closeRound(roundId).then(
      ({ status }) => status,
      () => undefined,
    );
  const started = performance.now();
  // The call may end before so large a round is paid and sealed; a repeated call continues. The
  // repetition is here because the SDK would wait before it, and that time would count.
  while ((await close()) !== 'settled') {
    if (performance.now() - started > SETTLE_LIMIT_MS) throw new Error('the round did not settle');
  }
  return (performance.now() - started) / 1000;
}

/** Lets players of a program enter and score, one after the other. */
async function playOn(stack: Stack, on: BenchProgram, flows: number) {
  const { hostname, port } = new URL(stack.baseUrl);
  const connection = new HttpConnection(hostname, Number(port));
  const latenciesMs: number[] = [];
  for (let flow = 0; flow < flows; flow += 1) {
    const playerRef = on.playerRefs[flow % on.playerRefs.length];
    const started = performance.now();
    if (playerRef === undefined || !(await runRoundFlow(connection, { program: on, playerRef })))
      throw new Error('a flow on the board failed');
    latenciesMs.push(performance.now() - started);
  }
  connection.close();
  return percentiles(latenciesMs);
}

function named(entries: number): string {
  return entries.toLocaleString('en');
}
