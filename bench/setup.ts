import { Laurel } from '@laurel/sdk';
import { type BenchProgram, THRESHOLD } from './paid-flow.ts';

export const PROGRAMS = 200;
export const PLAYERS = 2_000;
const SETUP_CLIENTS = 16;

/**
 * Creates 200 programs (one test key each), 2,000 funded players, this many live challenges a
 * program, and 200 open rounds through the service's own routes.
 */
export async function createPrograms(
  origin: string,
  operatorToken: string,
  challengesPerProgram: number,
): Promise<BenchProgram[]> {
  const programs: BenchProgram[] = [];
  const pending = Array.from({ length: PROGRAMS }, (_, index) => index);
  const worker = async () => {
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      programs.push(await createProgram({ origin, operatorToken, challenges: challengesPerProgram }, index));
    }
  };
  await Promise.all(Array.from({ length: SETUP_CLIENTS }, worker));
  return programs;
}

async function createProgram(
  {
    origin,
    operatorToken,
    challenges,
  }: { readonly origin: string; readonly operatorToken: string; readonly challenges: number },
  index: number,
): Promise<BenchProgram> {
  const operator = { authorization: `Bearer ${operatorToken}` };
  const program = await post(`${origin}/api/operator/programs`, operator, { name: `Bench ${index}` });
  const testKey = program.test_key as string;
  const challengeIds: string[] = [];
  for (let number = 0; number < challenges; number += 1) {
    const challenge = await post(`${origin}/api/operator/programs/${program.id}/challenges`, operator, {
      environment: 'test',
      name: `Bench ${index}.${number}`,
      fee: '1.00',
      prize: '4.00',
      metric_name: 'points',
      metric_unit: 'points',
      threshold_direction: 'higher_is_better',
      target_pass_rate: 0.2,
      integrity_tier: 1,
      status: 'live',
      threshold: THRESHOLD,
    });
    challengeIds.push(challenge.id as string);
  }
  const playerRefs = Array.from({ length: PLAYERS / PROGRAMS }, (_, player) => `bench-${index}-${player}`);
  const { sandbox } = new Laurel({ apiKey: testKey, baseUrl: origin });
  for (const playerRef of playerRefs) {
    await sandbox.createPlayer({ player_ref: playerRef, funds: '10000.00' });
  }
  const tournament = await post(`${origin}/api/operator/programs/${program.id}/tournaments`, operator, {
    ...ROUND_TERMS,
    name: `Bench cup ${index}`,
  });
  const roundId = (tournament.current_round as { id: string }).id;
  return { programId: String(program.id), testKey, playerRefs, challengeIds, roundId };
}

/** Rounds that outlast the benchmark, in which a player may enter for every flow. */
const ROUND_TERMS = {
  environment: 'test',
  metric_name: 'points',
  metric_unit: 'points',
  threshold_direction: 'higher_is_better',
  entry_fee: '1.00',
  attempt_cap: 1_000_000,
  purse_table: [10, 5, 3, 2, 1].map((amount, index) => ({ rank: index + 1, amount: `${amount}.00` })),
  min_entrants: 2,
  round_length_seconds: 24 * 3600,
};

/** Calls a route of the operator or a developer. Throws if the call fails. */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
