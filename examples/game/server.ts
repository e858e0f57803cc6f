/**
 * A partner's game server: "Stop the clock". The page knows the time only for its first two seconds and must stop it at five; the server
 * measures, computes the score and reports it. The page says which attempt it plays, and the server checks whose that is.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createPlayerHandler, type Laurel, LaurelError, toNodeListener } from '@laurel/sdk';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';

const GOAL_MS = 5_000;
const BEST_SCORE = 2_000;
const POINTS_PER_MS = 5;
/** The unit in which this game's challenges and tournaments measure. */
const METRIC_UNIT = 'points';

/** Nothing inline, nothing from elsewhere: enough for this page and for the browser library. */
const CONTENT_SECURITY_POLICY = [
  ...[
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
  ],
  ...["form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ');

export interface GameOptions {
  readonly laurel: Laurel;
  /** The page's script with the browser library in it, as a bundler makes it. */
  readonly script: string;
  /** Makes sure that the player has an account: in the sandbox with play money, in production by `laurel.players.link`. */
  readonly openAccount: (playerRef: string) => Promise<void>;
}

/** The game as an Express application, for one process: it keeps sessions and running games in memory. */
export function createGame({ laurel, script, openAccount }: GameOptions): Express {
  const app = express();
  const sessions = new Map<string, string>();
  const games = new Map<string, { readonly begunAt: number; stoppedAt?: number }>();

  const playerOf = (cookies = ''): string | null =>
    sessions.get(/(?:^|; )session=([^;]+)/.exec(cookies)?.[1] ?? '') ?? null;

  /** The open attempt that the page names, if it is this player's: an id from a browser proves nothing. */
  const findOpenAttempt = async (attemptId: unknown, playerRef: string | null) => {
    if (playerRef === null || typeof attemptId !== 'string') return undefined;
    const attempt = await laurel.attempts.retrieve(attemptId);
    return attempt.player_ref === playerRef && attempt.status === 'open' ? attempt : undefined;
  };

  app.disable('x-powered-by');
  app.use(securityHeaders);

  const players = createPlayerHandler({
    laurel,
    authenticate: (request) => playerOf(request.headers.get('cookie') ?? ''),
    playerNames: (refs) => new Map(refs.map((ref) => [ref, ref])),
  });
  app.use('/laurel', toNodeListener(players));

  app.use('/game', express.json(), refuseOtherSites);

  app.post('/game/session', async ({ body }, response) => {
    const name = String(body?.name ?? '').trim();
    if (!/^[\w .-]{1,60}$/.test(name)) return void response.status(400).end();
    await openAccount(name);
    const session = randomUUID();
    sessions.set(session, name);
    response.cookie('session', session, { httpOnly: true, sameSite: 'strict', path: '/' }).json({ name });
  });

  app.get('/game/session', ({ headers }, response) => {
    response.json({ name: playerOf(headers.cookie) });
  });

  app.delete('/game/session', ({ headers }, response) => {
    sessions.delete(/(?:^|; )session=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? '');
    response.clearCookie('session', { path: '/' }).status(204).end();
  });

  app.get('/game/round', async (_request, response) => {
    const { data } = await laurel.tournaments.list();
    const cup = data.find(({ metric_unit }) => metric_unit === METRIC_UNIT);
    response.json({ round: cup?.current_round ?? null });
  });

  app.post('/game/start', async ({ body, headers }, response) => {
    const attempt = await findOpenAttempt(body?.attempt_id, playerOf(headers.cookie));
    if (attempt === undefined) return void response.status(404).end();
    // A second start, as after a reload, continues the running clock: nobody gets a better one.
    const game = games.get(attempt.id) ?? { begunAt: performance.now() };
    games.set(attempt.id, game);
    response.json({ goal_ms: GOAL_MS, elapsed_ms: performance.now() - game.begunAt });
  });

  app.post('/game/stop', async ({ body, headers }, response) => {
    const now = performance.now();
    const attempt = await findOpenAttempt(body?.attempt_id, playerOf(headers.cookie));
    const game = attempt && games.get(attempt.id);
    if (attempt === undefined || game === undefined) return void response.status(404).end();
    // The first stop counts. It is kept until Laurel has the score, so that a page may send a stop again that failed.
    game.stoppedAt ??= now;
    const elapsedMs = Math.round(game.stoppedAt - game.begunAt);
    const score = Math.max(0, BEST_SCORE - POINTS_PER_MS * Math.abs(elapsedMs - GOAL_MS));
    await laurel.attempts.reportOutcome(attempt.id, { score, evidence: { elapsed_ms: elapsedMs } });
    games.delete(attempt.id);
    response.json({ score, elapsed_ms: elapsedMs });
  });

  app.get('/game.js', (_request, response) => {
    response.type('text/javascript').send(script);
  });
  app.use(express.static(fileURLToPath(new URL('public', import.meta.url))));
  app.use(reportFailure);
  return app;
}

const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  next();
};

const refuseOtherSites: RequestHandler = ({ method, headers }, response, next) => {
  if (method === 'GET' || headers['sec-fetch-site'] === 'same-origin') return next();
  response.status(403).end();
};

const reportFailure: ErrorRequestHandler = (error, _request, response, _next) => {
  const status = error instanceof LaurelError ? 502 : (error?.status ?? 500);
  if (status >= 500) console.error(error);
  response.status(status).end();
};
