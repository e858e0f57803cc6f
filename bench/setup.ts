import { type BenchProgram, THRESHOLD } from './paid-flow.ts';

const PROGRAMS = 200;
const PLAYERS_PER_PROGRAM = 10;
/** A player leaves a challenge after its fifth flow, so this many last for 5 x 24 flows a player, 240,000 in all. */
const CHALLENGES_PER_PROGRAM = 24;
const SETUP_CLIENTS = 16;

/** Makes 200 programs (one test key each), 2,000 funded players and 4,800 live challenges through the service's own routes. */
export async function createPrograms(origin: string, operatorToken: string): Promise<BenchProgram[]> {
  const programs: BenchProgram[] = [];
  const pending = Array.from({ length: PROGRAMS }, (_, index) => index);
  const worker = async () => {
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      programs.push(await createProgram(origin, operatorToken, index));
    }
  };
  await Promise.all(Array.from({ length: SETUP_CLIENTS }, worker));
  return programs;
}

async function createProgram(origin: string, operatorToken: string, index: number): Promise<BenchProgram> {
  const operator = { authorization: `Bearer ${operatorToken}` };
  const program = await post(`${origin}/api/operator/programs`, operator, { name: `Bench ${index}` });
  const testKey = program.test_key as string;
  const challengeIds: string[] = [];
  for (let number = 0; number < CHALLENGES_PER_PROGRAM; number += 1) {
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
  const playerRefs = Array.from({ length: PLAYERS_PER_PROGRAM }, (_, player) => `bench-${index}-${player}`);
  for (const playerRef of playerRefs) {
    await post(`${origin}/api/sandbox/players`, { 'x-api-key': testKey }, { player_ref: playerRef, funds: '1000.00' });
  }
  return { testKey, playerRefs, challengeIds };
}

async function post(url: string, headers: Record<string, string>, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
