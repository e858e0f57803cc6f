/**
 * A partner's game server: "Stop the clock". The page shows the time only for the first two
 * seconds, and the player must stop it at five. The server measures the time, computes the score
 * and reports it. The page names the attempt that it plays, and the server checks that it is the
 * player's.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type Attempt, createPlayerHandler, type Laurel, LaurelError, toNodeListener } from '@laurel/sdk';
import express, { type ErrorRequestHandler, type Express } from 'express';

const GOAL_MS = 5_000;
/** The score of a clock that was stopped at the goal. Each millisecond off costs five points. */
const BEST_SCORE = 2_000;
/** The metric of this game's contests. The program may have contests of other games. */
const METRIC = 'precision';
const PLAY_MONEY = '10.00';
const SECURITY_HEADERS = {
  // Forbids inline code and other origins. This page and the browser library need no more.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * The game as an Express application of one process: sessions and running games are in memory.
 * `script` is the bundled game.js.
 */
export function createGame({ laurel, script }: { readonly laurel: Laurel; readonly script: string }): Express {
  const app = express();
  const sessions = new Map<string, string>();
  const games = new Map<string, { readonly begunAt: number; stoppedAt?: number }>();

  const playerOf = (cookie: string | null | undefined) => sessions.get(sessionOf(cookie)) ?? null;

  /**
   * The open attempt that the page names, if it is this player's: an id from a browser proves
   * nothing.
   */
  const findOpenAttempt = async (attemptId: unknown, cookie: string | undefined) => {
    if (typeof attemptId !== 'string') return undefined;
    const attempt = await laurel.attempts.retrieve(attemptId).catch(unlessUnknown);
    return attempt?.player_ref === playerOf(cookie) && attempt?.status === 'open' ? attempt : undefined;
  };

  /** Whether the attempt's contest is of this game: a score means nothing in another game. */
  const isOfThisGame = async ({ challenge_id, tournament_round_id, player_ref }: Attempt) => {
    const { data: challenges } = await laurel.challenges.list({ player_ref, status: 'all' });
    const { data: tournaments } = await laurel.tournaments.list();
    return (
      challenges.some(({ id, metric_name }) => id === challenge_id && metric_name === METRIC) ||
      tournaments.some((cup) => cup.current_round?.id === tournament_round_id && cup.metric_name === METRIC)
    );
  };

  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.set(SECURITY_HEADERS);
    next();
  });
  const players = createPlayerHandler({
    laurel,
    authenticate: (request) => playerOf(request.headers.get('cookie')),
    playerNames: (refs) => new Map(refs.map((ref) => [ref, ref])),
  });
  app.use('/laurel', toNodeListener(players));
  app.use('/game', express.json(), ({ method, headers }, response, next) => {
    const isAllowed = method === 'GET' || headers['sec-fetch-site'] === 'same-origin';
    return isAllowed ? next() : void response.status(403).end();
  });

  app.post('/game/session', async ({ body }, response) => {
    const name = String(body?.name ?? '').trim();
    if (!/^[\w .-]{1,60}$/.test(name)) return void response.status(400).end();
    // A player in production has an account already: `laurel.players.link`.
    await laurel.sandbox.createPlayer({ player_ref: name, funds: PLAY_MONEY });
    const session = randomUUID();
    sessions.set(session, name);
    response.cookie('session', session, { httpOnly: true, sameSite: 'strict', path: '/' }).json({ name });
  });

  app.get('/game/session', ({ headers }, response) => void response.json({ name: playerOf(headers.cookie) }));

  app.delete('/game/session', ({ headers }, response) => {
    sessions.delete(sessionOf(headers.cookie));
    response.clearCookie('session', { path: '/' }).status(204).end();
  });

  app.get('/game/round', async (_request, response) => {
    const { data } = await laurel.tournaments.list();
    const cup = data.find(({ metric_name }) => metric_name === METRIC);
    response.json({ round: cup?.current_round ?? null });
  });

  app.use(['/game/start', '/game/stop'], ({ headers }, response, next) =>
    playerOf(headers.cookie) === null ? void response.status(401).end() : next(),
  );

  app.post('/game/start', async ({ body, headers }, response) => {
    const attempt = await findOpenAttempt(body?.attempt_id, headers.cookie);
    if (attempt === undefined) return void response.status(404).end();
    if (!games.has(attempt.id) && !(await isOfThisGame(attempt))) return void response.status(404).end();
    // A second start, as after a reload, continues the running clock, so no player gets a second
    // try for one fee.
    const game = games.get(attempt.id) ?? { begunAt: performance.now() };
    games.set(attempt.id, game);
    response.json({ elapsed_ms: performance.now() - game.begunAt });
  });

  app.post('/game/stop', async ({ body, headers }, response) => {
    const now = performance.now();
    const attempt = await findOpenAttempt(body?.attempt_id, headers.cookie);
    const game = attempt && games.get(attempt.id);
    if (attempt === undefined || game === undefined) return void response.status(404).end();
    // The first stop counts. It is kept until Laurel has the score, so that the page may repeat a
    // stop that failed.
    game.stoppedAt ??= now;
    const elapsedMs = Math.round(game.stoppedAt - game.begunAt);
    const score = Math.max(0, BEST_SCORE - 5 * Math.abs(elapsedMs - GOAL_MS));
    await laurel.attempts.reportOutcome(attempt.id, { score, evidence: { elapsed_ms: elapsedMs } });
    games.delete(attempt.id);
    response.json({ score });
  });

  app.get('/game.js', (_request, response) => void response.type('text/javascript').send(script));
  app.use(express.static(fileURLToPath(new URL('public', import.meta.url))));
  return app.use(reportFailure);
}

function sessionOf(cookie: string | null | undefined): string {
  return /(?:^|; )session=([^;]+)/.exec(cookie ?? '')?.[1] ?? '';
}

/** Returns undefined for an id that Laurel does not know. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof LaurelError) || error.code !== 'not_found') throw error;
}

const reportFailure: ErrorRequestHandler = (error, _request, response, _next) => {
  const status = error instanceof LaurelError ? 502 : (error?.status ?? 500);
  if (status >= 500) console.error(error);
  response.status(status).end();
};
