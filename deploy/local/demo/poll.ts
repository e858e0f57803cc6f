/**
 * The demo's poll: our server lists its runs over HTTPS. Laurel fetches the list and settles the
 * attempts that it finds there.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Integration, Laurel } from '@laurel/sdk';
import type { WebhookCa } from '../stack/webhook-ca.ts';
import { hasWon, type PaidAttempt } from './attempt.ts';
import { chapter, check, printBetweenCalls, printHeaders, printJson, printLines } from './print.ts';
import { isEqual, startDemoServer } from './server.ts';
import type { Webhooks } from './webhooks.ts';

type Demo = {
  readonly laurel: Laurel;
  readonly run: string;
  readonly webhooks: Webhooks;
  readonly files: WebhookCa;
  readonly mark: object;
  readonly attempt: PaidAttempt;
  /** The integration of an earlier run. */
  readonly earlier: Integration | undefined;
};

/** The shortest interval that Laurel allows. */
const INTERVAL_SECONDS = 30;
/**
 * A poll begins a second or two after it is due: at once, or one interval after the poll of an
 * earlier run.
 */
const POLL_LIMIT_MS = 40_000;

/** Resolves to the integration's id. */
export async function settleByPoll(on: Demo): Promise<string> {
  const { laurel, webhooks, files, mark, attempt, run } = on;
  const token = randomBytes(24).toString('base64url');
  await using server = await startRunsServer(files, token, {
    runs: [{ id: `run-${run}`, player: attempt.playerRef, challenge: attempt.challengeId, points: `${attempt.score}` }],
  });
  const id = await prepare(on, {
    version: 1,
    ...mark,
    map: {
      records: '/runs',
      attempt: { player_ref: '/player', challenge_id: '/challenge' },
      score: { pointer: '/points', as: 'numeric_string' },
      dedupe: '/id',
    },
    pull: { url: server.url, auth: { type: 'bearer', token } },
  });
  const active = await laurel.integrations.update(id, { status: 'active' });

  chapter(`Laurel: polls our server, no sooner than ${INTERVAL_SECONDS} s after the last time`);
  printLines([`waiting for a request to ${server.url}, which is due at ${active.next_poll_at}`]);
  await server.polled();
  printLines(['waiting for the webhook of the attempt that the page settles']);
  await webhooks.arrived('the attempt whose outcome Laurel polled', 'attempt.settled', hasWon(attempt));

  chapter('Partner: the attempt is settled');
  const { status } = await laurel.attempts.retrieve(attempt.id);
  check(status === 'settled', 'an attempt whose outcome was polled must be settled');
  return id;
}

/** Gives an integration the descriptor. Resolves to its id. */
async function prepare({ laurel, earlier }: Demo, descriptor: Record<string, unknown>): Promise<string> {
  if (earlier === undefined) {
    chapter('Partner: we want Laurel to poll our server, so we create an integration, and activate the draft');
    const terms = { transport: 'pull_poll', descriptor, pull_interval_seconds: INTERVAL_SECONDS } as const;
    return (await laurel.integrations.create(terms)).id;
  }
  chapter('Partner: our server has a new address for Laurel to poll, so we update the integration, and activate it');
  await laurel.integrations.update(earlier.id, { descriptor });
  return earlier.id;
}

/** Starts our server, which sends the page if the request carries the token. */
async function startRunsServer(files: WebhookCa, token: string, page: object) {
  const polled = Promise.withResolvers<'polled'>();
  const server = await startDemoServer(files, (request, response) => {
    const isLaurel = isEqual(request.headers.authorization, `Bearer ${token}`);
    const body = isLaurel ? page : { error: 'the token is wrong' };
    response.writeHead(isLaurel ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    printBetweenCalls(() => printPoll(request, body));
    if (isLaurel) polled.resolve('polled');
  });
  return {
    url: `${server.origin}/runs`,
    /** Resolves when the page has been sent. */
    async polled(): Promise<void> {
      const late = Promise.withResolvers<'late'>();
      const timer = setTimeout(() => late.resolve('late'), POLL_LIMIT_MS);
      const first = await Promise.race([polled.promise, late.promise]);
      clearTimeout(timer);
      check(first === 'polled', `Laurel must poll our server within ${POLL_LIMIT_MS / 1000} s`);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function printPoll(request: IncomingMessage, answer: object): void {
  console.log(`\n⇠ poll ${request.method} ${request.url}`);
  printHeaders(new Headers(request.headers as Record<string, string>), ['authorization', 'user-agent']);
  console.log('  our answer:');
  printJson(answer);
}
