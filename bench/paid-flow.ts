import { randomUUID } from 'node:crypto';
import type { HttpConnection } from './http-connection.ts';

/**
 * One program of the benchmark with its key, players and challenges, made before the clock starts.
 */
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
/** A player of a program. */
export interface Player {
  readonly program: BenchProgram;
  readonly playerRef: string;
}

/** The flow that a client repeats. */
export type Flow = 'challenge' | 'round';

/**
 * Runs one entry of a round: the fee is charged, then a score goes onto the board, better or worse
 * than the player's last.
 */
export async function runRoundFlow(connection: HttpConnection, { program, playerRef }: Player): Promise<boolean> {
  const { testKey, roundId } = program;
  const attemptId = await create(connection, testKey, `"tournament_round_id":"${roundId}"`, playerRef);
  if (attemptId === null) return false;
  const score = Math.floor(Math.random() * 1_000_000) / 100;
  const outcome = await report(connection, testKey, attemptId, `{"score":${score}}`);
  if (outcome.status !== 200 || !outcome.body.includes('"award":null'))
    return reportUnexpected(outcome.status, outcome.body);
  return true;
}

/**
 * One paid flow: creates an attempt, which charges its fee, and reports its outcome, a win or a
 * loss. A win is paid. Returns whether the status and the content of every response were expected.
 */
export async function runPaidFlow(
  connection: HttpConnection,
  player: Player,
  { challengeId, wins }: { readonly challengeId: string; readonly wins: boolean },
): Promise<boolean> {
  const { testKey } = player.program;
  const attemptId = await createAttempt(connection, player, challengeId);
  if (attemptId === null) return false;
  const score = wins ? THRESHOLD + 1 : THRESHOLD - 1;
  const outcome = await report(connection, testKey, attemptId, `{"score":${score},"evidence":{"run":"${attemptId}"}}`);
  const paid = outcome.body.includes('"payout_status":"paid"');
  if (outcome.status !== 200 || paid !== wins) return reportUnexpected(outcome.status, outcome.body);
  return true;
}

/** Creates an attempt on a challenge. Returns its id, or null if it was not created. */
export function createAttempt(
  connection: HttpConnection,
  { program, playerRef }: Player,
  challengeId: string,
): Promise<string | null> {
  return create(connection, program.testKey, `"challenge_id":"${challengeId}"`, playerRef);
}

/** Returns the id of the created attempt, or null. */
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
  reportUnexpected(created.status, created.body);
  return null;
}

export function report(connection: HttpConnection, testKey: string, attemptId: string, body: string) {
  return connection.send('POST', `/v1/attempts/${attemptId}/outcome`, headersOf(testKey), body);
}

function headersOf(testKey: string): string {
  return `x-api-key: ${testKey}\r\nidempotency-key: ${randomUUID()}\r\n`;
}

export function reportUnexpected(status: number, body: string): false {
  process.stderr.write(`unexpected answer ${status}: ${body.slice(0, 300)}\n`);
  return false;
}
