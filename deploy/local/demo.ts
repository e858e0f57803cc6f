/**
 * `npm run demo`: plays a partner's game server against the running stack, with nothing but fetch, and prints every
 * request and answer. Each run brings a new player, so it works again and again on one stack.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DemoProgram, SPRINT, seedDemo } from './seed.ts';

type Json = Record<string, unknown>;
type Ready = { readonly base_url: string; readonly operator_token: string; readonly demo?: DemoProgram };
type Call = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: object;
  readonly expect: number;
};
type Answer = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: Json };

/** Ends the demo with one sentence. */
class DemoFailure extends Error {}

const SHOWN_REQUEST_HEADERS = ['authorization', 'x-api-key', 'idempotency-key'];
const SHOWN_ANSWER_HEADERS = ['idempotency-replayed', 'x-ratelimit-remaining', 'x-request-id'];

async function playDemo(): Promise<void> {
  const ready = readReady();
  const { origin } = new URL(ready.base_url);
  await ping(origin);
  const demo = ready.demo ?? (await seedDemo({ baseUrl: origin, operatorToken: ready.operator_token }));
  const asOperator = { authorization: `Bearer ${ready.operator_token}` };
  const asPartner = { 'x-api-key': demo.test_key };
  const withKey = () => ({ ...asPartner, 'idempotency-key': randomUUID() });
  const call = (shape: Call) => exchange(origin, shape);

  const run = randomUUID().slice(0, 8);
  const playerRef = `demo-player-${run}`;
  const email = `player-${run}@example.com`;

  chapter('Laurel: a player opens an account and puts in 20.00 of play money');
  const account = await call({
    method: 'POST',
    path: '/api/operator/accounts',
    headers: asOperator,
    body: { email, date_of_birth: '1990-04-01', jurisdiction: 'US-CA', verification_level: 1 },
    expect: 201,
  });
  const accountPath = `/api/operator/accounts/${account.body.id}`;
  await call({
    method: 'POST',
    path: `${accountPath}/deposits`,
    headers: asOperator,
    body: { environment: 'test', amount: '20.00', reference: `demo-${run}` },
    expect: 201,
  });

  chapter('Partner: link our player to that account');
  await call({
    method: 'POST',
    path: '/v1/players',
    headers: asPartner,
    body: { player_ref: playerRef, email },
    expect: 201,
  });

  chapter('Partner: what may this player attempt?');
  const listChallenges = () =>
    call({ method: 'GET', path: `/v1/challenges?player_ref=${playerRef}`, headers: asPartner, expect: 200 });
  const find = (answer: Answer, id: unknown) => (answer.body.data as Json[]).find((listed) => listed.id === id);
  let challenge = find(await listChallenges(), demo.challenge_id);
  if (challenge === undefined) {
    chapter('Laurel: the challenge of the demo is gone, so an operator opens another');
    const opened = await call({
      method: 'POST',
      path: `/api/operator/programs/${demo.program_id}/challenges`,
      headers: asOperator,
      body: { environment: 'test', status: 'live', integrity_tier: 1, target_pass_rate: 0.2, ...SPRINT },
      expect: 201,
    });
    challenge = opened.body;
  }
  const challengeId = String(challenge.id);
  const threshold = Number(challenge.threshold);

  const pay = (headers: Record<string, string>) =>
    call({
      method: 'POST',
      path: '/v1/attempts',
      headers,
      body: { challenge_id: challengeId, player_ref: playerRef, metadata: { match: run } },
      expect: 201,
    });
  const report = (attempt: Answer, score: number, headers = withKey()) =>
    call({
      method: 'POST',
      path: `/v1/attempts/${attempt.body.id}/outcome`,
      headers,
      body: { score, evidence: { seed: run } },
      expect: 200,
    });

  chapter('Partner: the player pays for an attempt, and falls one point short');
  const lost = await report(await pay(withKey()), threshold - 1);
  check(lost.body.met_threshold === false && lost.body.award === null, 'a score below the bar must not win');

  chapter('Partner: the player pays again, and reaches the bar');
  const createHeaders = withKey();
  const attempt = await pay(createHeaders);
  const won = await report(attempt, threshold);
  const award = won.body.award as Json | null;
  check(won.body.met_threshold === true && award?.payout_status === 'paid', 'a score at the bar must win and be paid');

  chapter('Partner: our connection broke, so we send the paid request once more, with the same key');
  const replayed = await pay(createHeaders);
  check(replayed.text === attempt.text, 'a replay must answer the same bytes');
  check(replayed.headers.get('idempotency-replayed') === 'true', 'a replay must say that it is one');

  chapter('Partner: the authoritative read of the attempt');
  await call({ method: 'GET', path: `/v1/attempts/${attempt.body.id}`, headers: asPartner, expect: 200 });

  chapter('Partner: a prize is paid once per player, so the challenge has left the list');
  check(find(await listChallenges(), challengeId) === undefined, 'a claimed challenge must not be listed');

  chapter('Laurel: the signed receipt of the win');
  await call({
    method: 'GET',
    path: `/api/operator/receipts/${won.body.receipt_id}`,
    headers: asOperator,
    expect: 200,
  });

  chapter("Laurel: the player's wallet, line by line");
  const statement = await call({
    method: 'GET',
    path: `${accountPath}/statement?environment=test`,
    headers: asOperator,
    expect: 200,
  });
  const kinds = (statement.body.data as Json[]).map((line) => line.kind).join(', ');
  check(kinds === 'award, fee, fee, deposit', `a deposit, two fees and an award must be all that moved, not: ${kinds}`);

  chapter('Laurel: every money invariant, checked now');
  const audit = await call({ method: 'GET', path: '/api/operator/audit', headers: asOperator, expect: 200 });
  check(audit.body.ok === true, 'every invariant must hold');

  console.log(`\nDone: ${playerRef} paid twice, won once, and has ${statement.body.balance} now.`);
}

function readReady(): Ready {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const file = resolve(root, process.env.LAUREL_DATA_DIR ?? '.laurel', 'ready.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Ready;
  } catch {
    throw new DemoFailure(
      `The stack is not running (no ${file}): run \`npm start\` in another terminal and try again.`,
    );
  }
}

async function ping(origin: string): Promise<void> {
  try {
    const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(5_000) });
    if (answer.ok) return;
  } catch {
    // Said below, in words.
  }
  throw new DemoFailure(`The stack is not running at ${origin}: run \`npm start\` in another terminal and try again.`);
}

async function exchange(origin: string, shape: Call): Promise<Answer> {
  const { method, path, headers, body, expect } = shape;
  console.log(`\n→ ${method} ${path}`);
  printHeaders(new Headers(headers), SHOWN_REQUEST_HEADERS);
  if (body !== undefined) printJson(body);
  let response: Response;
  let text: string;
  try {
    response = await fetch(origin + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    text = await response.text();
  } catch (error) {
    throw new DemoFailure(
      `The stack stopped answering in the middle of ${method} ${path} (${(error as Error).message}).`,
    );
  }
  const parsed = text === '' ? {} : (JSON.parse(text) as Json);
  console.log(`← ${response.status} ${response.statusText}`);
  printHeaders(response.headers, SHOWN_ANSWER_HEADERS);
  printJson(parsed);
  check(response.status === expect, `${method} ${path} must answer ${expect}, not ${response.status}`);
  return { status: response.status, headers: response.headers, text, body: parsed };
}

function check(holds: boolean, rule: string): void {
  if (!holds) throw new DemoFailure(`The demo failed: ${rule}.`);
}

let chapters = 0;
function chapter(title: string): void {
  chapters += 1;
  console.log(`\n━━ ${chapters}. ${title}`);
}

function printHeaders(headers: Headers, names: readonly string[]): void {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) console.log(`  ${name}: ${mask(value)}`);
  }
}

function printJson(value: object): void {
  console.log(mask(JSON.stringify(value, null, 2)).replace(/^/gm, '  '));
}

/** Keys and tokens show only their ends. */
function mask(text: string): string {
  return text
    .replace(/\b(sk_(?:test|live)_[0-9A-Za-z]{4})[0-9A-Za-z]+([0-9A-Za-z]{4})\b/g, '$1…$2')
    .replace(/^Bearer .*$/, 'Bearer ****');
}

try {
  await playDemo();
} catch (error) {
  if (!(error instanceof DemoFailure)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
