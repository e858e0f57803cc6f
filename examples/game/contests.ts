/**
 * What a player can play for: a challenge and a cup. Here Laurel's operator creates them; in
 * production a partner agrees on them with Laurel.
 */
import type { Operator } from '@laurel/local-infrastructure/running-stack';
import type { Laurel } from '@laurel/sdk';

const SHARED_TERMS = {
  environment: 'test',
  metric_name: 'precision',
  metric_unit: 'points',
  threshold_direction: 'higher_is_better',
  score_min: 0,
};

const CHALLENGE = {
  ...SHARED_TERMS,
  name: 'Stop the clock',
  description: 'Stop within a tenth of a second of 5.00 s.',
  status: 'live',
  integrity_tier: 1,
  target_pass_rate: 0.4,
  fee: '1.00',
  prize: '3.00',
  threshold: 1_500,
};

const CUP = {
  ...SHARED_TERMS,
  name: 'Clock cup',
  description: 'The best run of the day.',
  entry_fee: '1.00',
  attempt_cap: 5,
  purse_table: [
    { rank: 1, amount: '6.00' },
    { rank: 2, amount: '3.00' },
  ],
  min_entrants: 2,
  round_length_seconds: 24 * 3600,
};

/** Creates the game's challenge and tournament if the program does not have them. */
export async function openContests(laurel: Laurel, operator: Operator, programId: string): Promise<void> {
  const create = (kind: string, body: object) =>
    operator({ method: 'POST', path: `/api/operator/programs/${programId}/${kind}`, body, expect: 201 });
  const challenges = await laurel.challenges.list({ player_ref: 'example-setup', status: 'all' });
  if (!challenges.data.some(({ name }) => name === CHALLENGE.name)) await create('challenges', CHALLENGE);
  const tournaments = await laurel.tournaments.list();
  if (!tournaments.data.some(({ name }) => name === CUP.name)) await create('tournaments', CUP);
}
