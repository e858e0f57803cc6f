import { checkText } from './arguments.ts';
import { sha256, toHex } from './bytes.ts';
import { isApiAnswer } from './closed-sets.ts';
import { LaurelError } from './errors.ts';
import { createPlayerBudget } from './player-budget.ts';
import type { Challenge } from './player-shapes.ts';
import { type AnyLeaderboard, type OwnedAttempt, viewAttempt, viewChallenge, viewLeaderboard } from './player-view.ts';
import { isSameOrigin } from './same-origin.ts';
import { parseStrictJson } from './strict-json.ts';

/** The four calls of Laurel that a player's request can cause; `Laurel` implements them. */
export interface PlayerApi {
  readonly challenges: {
    list(query: { player_ref: string }): PromiseLike<{ readonly data: readonly Challenge[] }>;
  };
  readonly rounds: {
    leaderboard(roundId: string, query: { player_ref: string }): PromiseLike<AnyLeaderboard>;
  };
  readonly attempts: {
    create(body: NewAttempt, options: { idempotencyKey: string }): PromiseLike<OwnedAttempt>;
    retrieve(attemptId: string): PromiseLike<OwnedAttempt>;
  };
}

type NewAttempt = { player_ref: string } & ({ challenge_id: string } | { tournament_round_id: string });

export interface PlayerHandlerOptions {
  readonly laurel: PlayerApi;
  /**
   * Returns who is signed in to the partner's site, by its cookie or token: the `player_ref`, or
   * null. It must not read the body. Nothing else in a request identifies the player.
   */
  readonly authenticate: (request: Request) => string | null | Promise<string | null>;
  /**
   * The names that boards show to other players, by `player_ref`; none by default, because the ref
   * itself never leaves the server.
   */
  readonly playerNames?: (
    playerRefs: readonly string[],
  ) => ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  /**
   * The site's public origin, `https://game.example.com`, if a proxy replaces the `Host` header.
   */
  readonly origin?: string;
  /**
   * How many requests of one player are served in a minute; 60 by default. All players of a program
   * and its servers share Laurel's limit, which one player could otherwise use up. This handler
   * counts in its own process.
   */
  readonly playerRequestsPerMinute?: number;
  /**
   * Called with failures that the player did not cause: Laurel unreachable, a refused key, an error
   * of `authenticate`. `console.error` by default.
   */
  readonly onError?: (error: unknown, request: Request) => void;
}

type PlayerCall = (player: Player) => Promise<Response>;

interface Player extends Pick<PlayerHandlerOptions, 'laurel' | 'playerNames'> {
  readonly playerRef: string;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const ARM_ID = /^[\w-]{16,128}$/;
const MAX_BODY_BYTES = 4_096;

/**
 * The server's end of `@laurel/browser`, as a Fetch handler for any framework: mount it under one
 * path for GET and POST. It serves, by the end of the path:
 *
 * - `GET challenges`: `{data: [PlayerChallenge]}`
 * - `GET rounds/{id}/leaderboard`: `PlayerLeaderboard`
 * - `POST attempts` with `{arm_id, challenge_id}` or `{arm_id, tournament_round_id}`: 201
 *   `PlayerAttempt`. The idempotency key derives from player and arm, so an arm charges its player
 *   once, and no two players share an arm.
 * - `GET attempts/{id}`: `PlayerAttempt`, only the player's own; any other is 404
 * - every `outcome`, with any method: 410 `client_reporting_removed`
 *
 * Failures are `{error: {code, message}}`:
 *
 * - 400 `malformed_request`: the body ends early
 * - 401 `unauthorized`: no player is signed in
 * - 403 `cross_origin`: see `isSameOrigin`
 * - the code, status and message of Laurel's refusal
 * - 429 `rate_limited` with `Retry-After`: the player's or the program's minute is used up
 * - 502 `internal_error`: no response of Laurel, one of an intermediary, or the server's key was
 *   refused
 *
 * Throws a `TypeError` for options that can only be a mistake, such as a `playerRequestsPerMinute`
 * that is not a whole number.
 */
export function createPlayerHandler(options: PlayerHandlerOptions): (request: Request) => Promise<Response> {
  checkHandlerOptions(options);
  const { authenticate, onError = (error: unknown) => console.error(error) } = options;
  const spend = createPlayerBudget(options.playerRequestsPerMinute ?? 60);
  return async (request) => {
    const path = new URL(request.url).pathname;
    if (/\/outcomes?\/?$/.test(path)) {
      return failure(410, 'client_reporting_removed', 'Outcomes are reported by the game server.');
    }
    if (!isSameOrigin(request, options.origin)) {
      return failure(403, 'cross_origin', 'Only pages of this origin may ask.');
    }
    const call = toCall(request, path);
    if (call === undefined) return notFound();
    try {
      const result = await authenticate(request);
      if ((result ?? '') === '') return failure(401, 'unauthorized', 'The player is not signed in.');
      const playerRef = checkText('the result of authenticate', result);
      const usedUpForMs = spend(playerRef);
      if (usedUpForMs !== undefined) return tooManyRequests(usedUpForMs);
      return await call({ ...options, playerRef });
    } catch (error) {
      const refusal = toRefusal(error);
      if (refusal !== undefined) return refusal;
      onError(error, request);
      return failure(error instanceof LaurelError ? 502 : 500, 'internal_error', 'Something failed; try again.');
    }
  };
}

/**
 * Refuses options that are mistakes, which would otherwise show only when the first player pays.
 */
function checkHandlerOptions({ authenticate, playerNames, onError, origin }: PlayerHandlerOptions): void {
  if (typeof authenticate !== 'function') throw new TypeError('authenticate is not a function.');
  for (const [name, callback] of Object.entries({ playerNames, onError })) {
    if (callback !== undefined && typeof callback !== 'function') throw new TypeError(`${name} is not a function.`);
  }
  if (origin !== undefined && !(URL.canParse(origin) && new URL(origin).origin === origin)) {
    throw new TypeError('origin is not one as "https://game.example.com".');
  }
}

function toCall(request: Request, path: string): PlayerCall | undefined {
  if (request.method === 'POST')
    return path.endsWith('/attempts') ? (player) => createAttempt(player, request) : undefined;
  if (request.method !== 'GET') return undefined;
  if (path.endsWith('/challenges')) return listChallenges;
  const [, roundId] = /\/rounds\/([^/]+)\/leaderboard$/.exec(path) ?? [];
  if (roundId !== undefined && UUID.test(roundId)) return (player) => readLeaderboard(player, roundId);
  const [, attemptId] = /\/attempts\/([^/]+)$/.exec(path) ?? [];
  if (attemptId !== undefined && UUID.test(attemptId)) return (player) => readAttempt(player, attemptId);
  return undefined;
}

async function listChallenges({ laurel, playerRef }: Player): Promise<Response> {
  const { data } = await laurel.challenges.list({ player_ref: playerRef });
  return answer(200, { data: data.map(viewChallenge) });
}

async function readLeaderboard({ laurel, playerRef, playerNames }: Player, roundId: string): Promise<Response> {
  const board = await laurel.rounds.leaderboard(roundId, { player_ref: playerRef });
  const refs = 'data' in board ? board.data.map((row) => row.player_ref) : [];
  const names = (refs.length > 0 && (await playerNames?.(refs))) || new Map<string, string>();
  return answer(200, viewLeaderboard(board, names));
}

async function readAttempt({ laurel, playerRef }: Player, attemptId: string): Promise<Response> {
  try {
    const attempt = await laurel.attempts.retrieve(attemptId);
    return attempt.player_ref === playerRef ? answer(200, viewAttempt(attempt)) : notFound();
  } catch (error) {
    // The same words as for another player's attempt, so that a page cannot find out which attempts
    // exist.
    if (error instanceof LaurelError && error.code === 'not_found') return notFound();
    throw error;
  }
}

async function createAttempt({ laurel, playerRef }: Player, request: Request): Promise<Response> {
  let body: unknown;
  try {
    body = await readJson(request);
  } catch {
    // The code is not one of Laurel's, because an earlier, complete request for the same arm may
    // have been charged.
    return failure(400, 'malformed_request', 'The body could not be read.');
  }
  const { arm_id, challenge_id, tournament_round_id } = (body ?? {}) as Record<string, unknown>;
  const isChallenge = typeof challenge_id === 'string';
  const isRound = typeof tournament_round_id === 'string';
  if (typeof arm_id !== 'string' || !ARM_ID.test(arm_id) || isChallenge === isRound) {
    return failure(400, 'invalid_request', 'Send arm_id with challenge_id or tournament_round_id, as JSON.');
  }
  const attempt = await laurel.attempts.create(
    {
      player_ref: playerRef,
      ...(isChallenge ? { challenge_id } : { tournament_round_id: String(tournament_round_id) }),
    },
    { idempotencyKey: await idempotencyKeyOf(playerRef, arm_id) },
  );
  return answer(201, viewAttempt(attempt));
}

/**
 * The idempotency key of an arm of a player. It is a digest: otherwise a `player_ref` that is long
 * or contains a separator could make two keys equal.
 */
async function idempotencyKeyOf(playerRef: string, armId: string): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([playerRef, armId]));
  return `arm-${toHex(await sha256(text))}`;
}

/**
 * Reads a JSON body; undefined if it is not JSON, is too long, or has no JSON content type, which a
 * form of another site cannot send. Rejects if the body ends early.
 */
async function readJson(request: Request): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    bytes += value.byteLength;
    if (bytes > MAX_BODY_BYTES) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  try {
    return parseStrictJson(whole);
  } catch {
    return undefined;
  }
}

/**
 * The response for an error that is Laurel's refusal of the player's request; undefined for any
 * other error. A 401 is another one: it concerns the server's key. So is a response of an
 * intermediary, whatever its status: an earlier try may have been charged, and the page would
 * conclude that nothing was. Laurel's own refusals are a closed set (closed-sets.ts).
 */
function toRefusal(error: unknown): Response | undefined {
  if (!(error instanceof LaurelError)) return undefined;
  const { code, status = 0, apiMessage = 'The request was refused.', retryAfterMs } = error;
  if (code === 'rate_limited') return tooManyRequests(retryAfterMs);
  if (!isApiAnswer(status, code) || status >= 500 || status === 401) return undefined;
  const response = failure(status, code, apiMessage);
  return retryAfterMs === undefined ? response : withRetryAfter(response, retryAfterMs);
}

function tooManyRequests(retryAfterMs = 1_000): Response {
  return withRetryAfter(failure(429, 'rate_limited', 'Too many requests; try again later.'), retryAfterMs);
}

function withRetryAfter(response: Response, retryAfterMs: number): Response {
  response.headers.set('retry-after', String(Math.ceil(retryAfterMs / 1_000)));
  return response;
}

function notFound(): Response {
  return failure(404, 'not_found', 'There is no such resource.');
}

function failure(status: number, code: string, message: string): Response {
  return answer(status, { error: { code, message } });
}

function answer(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } });
}
