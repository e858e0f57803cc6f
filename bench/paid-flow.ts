import { randomUUID } from 'node:crypto';
import type { HttpConnection } from './http-connection.ts';

/** One program of the benchmark: its key, its players and its challenges, all made before the clock starts. */
export interface BenchProgram {
  readonly programId: string;
  readonly testKey: string;
  readonly playerRefs: readonly string[];
  readonly challengeIds: readonly string[];
  /** An open round that outlasts the benchmark. */
  readonly roundId: string;
}

/** The bar of every benchmark challenge; higher is better. */
export const THRESHOLD = 100;
/** One flow in five wins. */
const FLOWS_PER_WIN = 5;

/** The progress of one player: a challenge pays a player once, so after a win the player moves to the next one. */
export interface PlayerState {
  readonly program: BenchProgram;
  readonly playerRef: string;
  flows: number;
}

/** The players of one load process, in the order in which flows take them. */
export function playersOf(programs: readonly BenchProgram[]): PlayerState[] {
  const longest = Math.max(0, ...programs.map((program) => program.playerRefs.length));
  const players: PlayerState[] = [];
  for (let index = 0; index < longest; index += 1) {
    for (const program of programs) {
      const playerRef = program.playerRefs[index];
      if (playerRef !== undefined) players.push({ program, playerRef, flows: 0 });
    }
  }
  return players;
}

/** The flow that a client repeats. */
export type Flow = 'challenge' | 'round';

/** One entry of a round: fee charged, then a score of the player's own, better or worse than the last, on the board. */
export async function runRoundFlow(connection: HttpConnection, player: PlayerState): Promise<boolean> {
  const { testKey, roundId } = player.program;
  const attemptId = await create(connection, testKey, `"tournament_round_id":"${roundId}"`, player.playerRef);
  if (attemptId === null) return false;
  const score = Math.floor(Math.random() * 1_000_000) / 100;
  const outcome = await report(connection, testKey, attemptId, `{"score":${score}}`);
  if (outcome.status !== 200 || !outcome.body.includes('"award":null')) return fail(outcome.status, outcome.body);
  return true;
}

/**
 * One paid flow: create an attempt (fee charged), report its outcome (one in five wins and is paid).
 * Returns whether every answer was the expected one, checked in its content, not by status alone.
 */
export async function runPaidFlow(connection: HttpConnection, player: PlayerState): Promise<boolean> {
  const flow = player.flows;
  player.flows += 1;
  const wins = flow % FLOWS_PER_WIN === FLOWS_PER_WIN - 1;
  const challengeId = player.program.challengeIds[Math.floor(flow / FLOWS_PER_WIN)];
  if (challengeId === undefined) throw new Error('the benchmark made too few challenges for this many flows');
  const { testKey } = player.program;
  const attemptId = await create(connection, testKey, `"challenge_id":"${challengeId}"`, player.playerRef);
  if (attemptId === null) return false;
  const score = wins ? THRESHOLD + 1 : THRESHOLD - 1;
  const outcome = await report(connection, testKey, attemptId, `{"score":${score},"evidence":{"run":"${flow}"}}`);
  const paid = outcome.body.includes('"payout_status":"paid"');
  if (outcome.status !== 200 || paid !== wins) return fail(outcome.status, outcome.body);
  return true;
}

/** The id of the attempt that was created; null when it was not. */
async function create(
  connection: HttpConnection,
  testKey: string,
  parent: string,
  playerRef: string,
): Promise<string | null> {
  const created = await connection.send(
    'POST',
    '/v1/attempts',
    headersOf(testKey),
    `{${parent},"player_ref":"${playerRef}"}`,
  );
  const id = /"id":"([0-9a-f-]{36})"/.exec(created.body)?.[1];
  if (created.status === 201 && id !== undefined) return id;
  fail(created.status, created.body);
  return null;
}

function report(connection: HttpConnection, testKey: string, attemptId: string, body: string) {
  return connection.send('POST', `/v1/attempts/${attemptId}/outcome`, headersOf(testKey), body);
}

function headersOf(testKey: string): string {
  return `x-api-key: ${testKey}\r\nidempotency-key: ${randomUUID()}\r\n`;
}

function fail(status: number, body: string): false {
  process.stderr.write(`unexpected answer ${status}: ${body.slice(0, 300)}\n`);
  return false;
}
