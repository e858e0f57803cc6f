/**
 * The demo's new game. The partner seeds a calibrating challenge with percentiles, so that it is
 * live immediately with a limited prize. After a hundred settled attempts that agree with the
 * percentiles the prize is whole.
 * The game has its own program, without a webhook endpoint and with a rate limit of its own.
 */
import { randomUUID } from 'node:crypto';
import type { Operator } from '@laurel/local-infrastructure/running-stack';
import type { ChallengeList, Laurel, Outcome } from '@laurel/sdk';
import { chapter, check, printLines, printOnly } from './print.ts';

/** Each player's last attempt of five reaches the bar: a fifth of all, as the challenge claims. */
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
/** Percentiles of our players' scores before the challenge. By interpolation, 80 % lie below 89. */
const DISTRIBUTION = { p5: 12, p25: 40, p50: 62, p75: 84, p95: 104 };
const SAMPLE_SIZE = 12_000;
/** How often the list is read until the prize is whole: far more than the monitor needs. */
const READS = 50;
const READ_EVERY_MS = 200;

type Demo = {
  readonly operator: Operator;
  /** Returns a client of the program that has this API key. */
  readonly connect: (apiKey: string) => Laurel;
  readonly run: string;
};

export async function seedChallenge({ operator, connect, run }: Demo): Promise<void> {
  chapter("Laurel: a program for the partner's new game, and a challenge without a score");
  const post = (path: string, body: object) => operator({ method: 'POST', path, body, expect: 201 });
  const program = await post('/api/operator/programs', { name: `Demo Landing ${run}` });
  const laurel = connect(String(program.test_key));
  const opened = await post(`/api/operator/programs/${program.id}/challenges`, TERMS);
  check(opened.status === 'calibrating', 'a challenge without a bar must be calibrating');
  const id = String(opened.id);

  chapter('Partner: we know how our players score, so we seed the challenge instead of waiting for its calibration');
  const distribution = { distribution: DISTRIBUTION, sample_size: SAMPLE_SIZE };
  const seeded = await laurel.challenges.seedDistribution(id, distribution, { idempotencyKey: randomUUID() });

  const readOffer = async () => (await laurel.challenges.list({ player_ref: `landing-${run}` })).data[0];
  const describe = ({ data }: ChallengeList) =>
    data.map(({ name, prize, ramp }) => `${name}: prize ${prize}, ramp ${JSON.stringify(ramp)}`);
  chapter('Partner: it is live; until a hundred attempts agree with our percentiles the prize is limited');
  const limited = await printOnly(describe, readOffer);
  check(limited?.prize === '5.00' && limited.ramp !== undefined, 'a seeded challenge must offer a limited prize');

  chapter(
    `Partner: ${PLAYERS} players attempt it ${MISSES + 1} times each, and reach the bar once (not printed one by one)`,
  );
  const paid = await printOnly('nothing', () => playAll(laurel, { id, threshold: seeded.threshold, run }));
  printLines([`${PLAYERS * (MISSES + 1)} attempts settled; awards paid: ${[...new Set(paid)].join(', ')}`]);
  check(paid.length === PLAYERS && paid.every((amount) => amount === '5.00'), 'a ramp must limit each award');

  chapter('Partner: the percentiles are confirmed, and the whole prize is on offer');
  await printOnly('nothing', async () => {
    // While all hundred attempts wait for the monitor, the challenge is not in the list.
    const isConfirmed = async () => {
      const offer = await readOffer();
      return offer !== undefined && offer.ramp === undefined;
    };
    for (let read = 0; read < READS && !(await isConfirmed()); read += 1) {
      await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
    }
  });
  const whole = await printOnly(describe, readOffer);
  check(whole?.prize === '8.00' && whole.ramp === undefined, 'a completed ramp must offer the whole prize');

  chapter('Laurel: what the drift monitor has seen');
  await operator({ method: 'GET', path: `/api/operator/challenges/${id}/drift`, expect: 200 });
}

/** Plays all attempts and returns what each player won. */
async function playAll(
  laurel: Laurel,
  { id, threshold, run }: { readonly id: string; readonly threshold: number; readonly run: string },
): Promise<readonly string[]> {
  const play = async (playerRef: string, score: number): Promise<Outcome> => {
    const body = { challenge_id: id, player_ref: playerRef };
    const attempt = await laurel.attempts.create(body, { idempotencyKey: randomUUID() });
    return laurel.attempts.reportOutcome(attempt.id, { score });
  };
  const paid: string[] = [];
  for (let player = 0; player < PLAYERS; player += 1) {
    const playerRef = `landing-${run}-${player}`;
    await laurel.sandbox.createPlayer({ player_ref: playerRef, funds: '10.00' });
    for (let miss = 0; miss < MISSES; miss += 1) await play(playerRef, threshold - 1);
    const { award } = await play(playerRef, threshold);
    paid.push(String(award?.amount));
  }
  return paid;
}
