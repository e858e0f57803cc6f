/**
 * The demo's new game: the partner seeds a calibrating challenge with percentiles, so that it is live immediately, with a limited prize; and
 * after a hundred settled attempts that agree with them the prize is whole. The game has a program of its own: it has no webhook endpoint,
 * and its requests a minute are counted apart.
 */
import { randomUUID } from 'node:crypto';
import { type Answer, type Call, chapter, check, type Json, printLines } from './demo-calls.ts';

/** Of five attempts of each player the last reaches the bar: a fifth, as the challenge claims. */
const PLAYERS = 20;
const MISSES = 4;
const TERMS = {
  environment: 'test',
  name: 'Perfect landing',
  fee: '0.50',
  prize: '8.00',
  metric_name: 'precision',
  metric_unit: 'points',
  threshold_direction: 'higher_is_better',
  target_pass_rate: 0.2,
  integrity_tier: 1,
};
/** Of our own players' scores, from before the challenge. 80 % lie below 89, by interpolation. */
const DISTRIBUTION = { p5: 12, p25: 40, p50: 62, p75: 84, p95: 104 };
const SAMPLE_SIZE = 12_000;
/** How often the list is read until the prize is whole; far longer than the monitor needs. */
const READS = 50;
const READ_EVERY_MS = 200;

type Demo = {
  readonly call: (shape: Call) => Promise<Answer>;
  /** As `call`, without printing. */
  readonly callQuietly: (shape: Call) => Promise<Answer>;
  readonly asOperator: Record<string, string>;
  readonly run: string;
};

export async function seedChallenge({ call, callQuietly, asOperator, run }: Demo): Promise<void> {
  chapter('Laurel: a program for a new game of ours, and a challenge without a score');
  const program = await call({
    method: 'POST',
    path: '/api/operator/programs',
    headers: asOperator,
    body: { name: `Demo Landing ${run}` },
    expect: 201,
  });
  const asPartner = { 'x-api-key': String(program.body.test_key) };
  const withKey = () => ({ ...asPartner, 'idempotency-key': randomUUID() });
  const opened = await call({
    method: 'POST',
    path: `/api/operator/programs/${program.body.id}/challenges`,
    headers: asOperator,
    body: TERMS,
    expect: 201,
  });
  check(opened.body.status === 'calibrating', 'a challenge without a bar must be calibrating');
  const id = String(opened.body.id);

  chapter('Partner: we know how our players score, so we seed the challenge instead of waiting for its calibration');
  const seeded = await call({
    method: 'POST',
    path: `/v1/challenges/${id}/distribution`,
    headers: withKey(),
    body: { distribution: DISTRIBUTION, sample_size: SAMPLE_SIZE },
    expect: 201,
  });
  const threshold = Number(seeded.body.threshold);

  const list = (callWith: Demo['call']) =>
    callWith({
      method: 'GET',
      path: `/v1/challenges?player_ref=landing-${run}`,
      headers: asPartner,
      expect: 200,
      summary: ({ data }) =>
        (data as Json[]).map(({ name, prize, ramp }) => `${name}: prize ${prize}, ramp ${JSON.stringify(ramp)}`),
    });
  const listed = async (callWith: Demo['call']) => ((await list(callWith)).body.data as Json[])[0];
  chapter('Partner: it is live; until a hundred attempts agree with our percentiles the prize is limited');
  const limited = await listed(call);
  check(limited?.prize === '5.00' && limited.ramp !== undefined, 'a seeded challenge must offer a limited prize');

  chapter(
    `Partner: ${PLAYERS} players attempt it ${MISSES + 1} times each, and reach the bar once (not printed one by one)`,
  );
  const play = async (playerRef: string, score: number): Promise<Json> => {
    const body = { challenge_id: id, player_ref: playerRef };
    const attempt = await callQuietly({ method: 'POST', path: '/v1/attempts', headers: withKey(), body, expect: 201 });
    const path = `/v1/attempts/${attempt.body.id}/outcome`;
    return (await callQuietly({ method: 'POST', path, headers: withKey(), body: { score }, expect: 200 })).body;
  };
  const paid: string[] = [];
  for (let player = 0; player < PLAYERS; player += 1) {
    const playerRef = `landing-${run}-${player}`;
    const body = { player_ref: playerRef, funds: '10.00' };
    await callQuietly({ method: 'POST', path: '/api/sandbox/players', headers: asPartner, body, expect: 201 });
    for (let miss = 0; miss < MISSES; miss += 1) await play(playerRef, threshold - 1);
    const { award } = await play(playerRef, threshold);
    paid.push(String((award as Json | null)?.amount));
  }
  printLines([`${PLAYERS * (MISSES + 1)} attempts settled; awards paid: ${[...new Set(paid)].join(', ')}`]);
  check(paid.length === PLAYERS && paid.every((amount) => amount === '5.00'), 'a ramp must limit each award');

  chapter('Partner: the percentiles are confirmed, and the whole prize is on offer');
  let whole = await listed(callQuietly);
  for (let read = 0; read < READS && whole?.ramp !== undefined; read += 1) {
    await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
    whole = await listed(callQuietly);
  }
  await list(call);
  check(whole?.prize === '8.00' && whole.ramp === undefined, 'a completed ramp must offer the whole prize');

  chapter('Laurel: what the drift monitor has seen');
  await call({ method: 'GET', path: `/api/operator/challenges/${id}/drift`, headers: asOperator, expect: 200 });
}
