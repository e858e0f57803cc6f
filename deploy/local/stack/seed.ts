import { randomBytes } from 'node:crypto';
import { createOperator, type Json } from '@laurel/local-infrastructure/running-stack';

/**
 * The demo program, which `npm start` creates once, through the routes that an operator would use.
 */

export type DemoProgram = {
  readonly program_id: string;
  readonly test_key: string;
  readonly live_key: string;
  /**
   * The challenge of the README and of `npm run demo`: no ladder, a low fee, and higher is better.
   */
  readonly challenge_id: string;
  /** A ladder, lowest rung first: each rung unlocks the next. Lower is better. */
  readonly ladder_challenge_ids: readonly string[];
  /** A tournament with one round a day, one after the other. */
  readonly tournament_id: string;
  /** The owner of the program, who signs in to the developer portal. */
  readonly developer: { readonly email: string; readonly password: string };
};

/**
 * `baseUrl` is the origin, or ends in `/v1`. Every call creates another program, so the caller
 * keeps the result.
 */
export async function seedDemo({
  baseUrl,
  operatorToken,
}: {
  baseUrl: string;
  operatorToken: string;
}): Promise<DemoProgram> {
  const operator = createOperator({ origin: new URL(baseUrl).origin, operator_token: operatorToken });
  const create = (path: string, body: object) =>
    operator({ method: 'POST', path: `/api/operator${path}`, body, expect: 201 });
  // A new developer each time: an earlier one may still exist with a password that was not kept.
  const developer = {
    email: `developer-${randomBytes(3).toString('hex')}@example.com`,
    password: randomBytes(18).toString('base64url'),
  };
  const { id: developerId } = await create('/developers', developer);
  const program = await create('/programs', { name: 'Demo Arcade', developer_id: developerId });
  const approval = `/api/operator/programs/${program.id}/approve`;
  const approved = await operator({ method: 'POST', path: approval, body: {}, expect: 200 });
  const createChallenge = (terms: object) =>
    create(`/programs/${program.id}/challenges`, { ...CHALLENGE_DEFAULTS, ...terms });
  const sprint = await createChallenge(SPRINT_CHALLENGE);
  const bronze = await createChallenge({ ...LAP, name: 'Bronze lap', fee: '2.00', prize: '8.00', threshold: 60 });
  const silver = await createChallenge({
    ...LAP,
    name: 'Silver lap',
    fee: '4.00',
    prize: '20.00',
    threshold: 55,
    parent_challenge_id: bronze.id,
  });
  const cup = await create(`/programs/${program.id}/tournaments`, { ...SEEDED_TOURNAMENT, name: 'Daily distance cup' });
  return {
    program_id: field(program, 'id'),
    test_key: field(program, 'test_key'),
    live_key: field(approved, 'live_key'),
    challenge_id: field(sprint, 'id'),
    ladder_challenge_ids: [field(bronze, 'id'), field(silver, 'id')],
    tournament_id: field(cup, 'id'),
    developer,
  };
}

/**
 * The claimed pass rate fits README.md and `npm run demo`, where more than half of attempts win.
 */
export const CHALLENGE_DEFAULTS = { environment: 'test', status: 'live', integrity_tier: 1, target_pass_rate: 0.6 };

export const SPRINT_CHALLENGE = {
  name: 'High score sprint',
  description: 'Score 1,000 points or more in one run.',
  fee: '1.00',
  prize: '4.00',
  metric_name: 'score',
  metric_unit: 'points',
  threshold_direction: 'higher_is_better',
  threshold: 1_000,
  score_min: 0,
};

const LAP = {
  description: 'One lap, as fast as you can.',
  metric_name: 'lap time',
  metric_unit: 'seconds',
  threshold_direction: 'lower_is_better',
  score_min: 10,
};

/** Two players are enough, two ranks are paid, and the next round opens when one ends. */
export const SEEDED_TOURNAMENT = {
  environment: 'test',
  description: 'The farthest run of the day.',
  metric_name: 'distance',
  metric_unit: 'km',
  threshold_direction: 'higher_is_better',
  entry_fee: '1.00',
  attempt_cap: 5,
  purse_table: [
    { rank: 1, amount: '6.00' },
    { rank: 2, amount: '3.00' },
  ],
  min_entrants: 2,
  round_length_seconds: 24 * 3600,
};

function field(answer: Json, name: string): string {
  const value = answer[name];
  if (typeof value !== 'string') throw new Error(`seeding the demo program: a response lacks ${name}`);
  return value;
}
