/** What the game needs of the sandbox: accounts with play money, and something to play for. A partner has the first of the sandbox's routes. */
import type { Laurel } from '@laurel/sdk';

const PLAY_MONEY = '10.00';

/** Opens a sandbox account for the player, or adds play money to the one it has. */
export function createAccounts({ origin, testKey }: { readonly origin: string; readonly testKey: string }) {
  return async (playerRef: string): Promise<void> => {
    await post(`${origin}/api/sandbox/players`, { 'x-api-key': testKey }, { player_ref: playerRef, funds: PLAY_MONEY });
  };
}

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

export interface Operator {
  readonly origin: string;
  readonly operatorToken: string;
  readonly programId: string;
}

/** Makes sure, as Laurel's operator of the local stack, that the program has the game's challenge and its tournament. */
export async function openContests(laurel: Laurel, { origin, operatorToken, programId }: Operator): Promise<void> {
  const create = (kind: string, terms: object) =>
    post(`${origin}/api/operator/programs/${programId}/${kind}`, { authorization: `Bearer ${operatorToken}` }, terms);
  const challenges = await laurel.challenges.list({ player_ref: 'nobody', status: 'all' });
  if (!challenges.data.some(({ name }) => name === CHALLENGE.name)) await create('challenges', CHALLENGE);
  const tournaments = await laurel.tournaments.list();
  if (!tournaments.data.some(({ name }) => name === CUP.name)) await create('tournaments', CUP);
}

async function post(url: string, headers: Record<string, string>, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${await response.text()}`);
}
