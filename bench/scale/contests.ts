/** Makes what an operator sets up before the first attempt, through the service's own routes. */
import { randomUUID } from 'node:crypto';
import type { Stack } from '@laurel/testing';
import { post } from '../setup.ts';
import { CHALLENGES_PER_PROGRAM, LARGE_PURSE_CENTS, PROGRAMS, PURSE_CENTS, THRESHOLD } from './shape.ts';

/** Ids in the order of the programs. */
export interface Contests {
  readonly programIds: readonly string[];
  readonly liveKeys: readonly string[];
  /** The challenges, CHALLENGES_PER_PROGRAM for each program. */
  readonly challengeIds: readonly string[];
  /** One tournament for each program, then that of the large round, in the first program. */
  readonly tournamentIds: readonly string[];
  /** The endpoint of their developer, which gets the event of every settled attempt. */
  readonly endpointId: string;
}

/** Returns SQL for the id at an index. */
export function idAtSql(ids: readonly string[], index: string): string {
  return `('{${ids.join(',')}}'::uuid[])[1 + ${index}]`;
}

/** Programs with a live key, live challenges, and tournaments with an open round. */
export async function createContests({ baseUrl, operatorToken }: Stack): Promise<Contests> {
  const operator = { authorization: `Bearer ${operatorToken}` };
  const operate = (path: string, body: object) => post(`${baseUrl}/api/operator${path}`, operator, body);
  const credentials = { email: `${randomUUID()}@example.com`, password: randomUUID() };
  const developer = await operate('/developers', credentials);
  const session = await post(`${baseUrl}/api/portal/session`, {}, credentials);
  const portal = { authorization: `Bearer ${session.token}` };
  const endpoint = await post(`${baseUrl}/api/portal/webhook-endpoints`, portal, {
    url: 'https://127.0.0.1:65535/events',
    events: ['attempt.settled'],
  });
  const [programIds, liveKeys, challengeIds, tournamentIds] = [[], [], [], []] as [
    string[],
    string[],
    string[],
    string[],
  ];
  const openTournament = async (programId: string, name: string, purse: readonly number[]) => {
    const tournament = await operate(`/programs/${programId}/tournaments`, {
      ...TOURNAMENT,
      name,
      purse_table: purse.map((cents, index) => ({ rank: index + 1, amount: `${cents / 100}.00` })),
    });
    tournamentIds.push(String(tournament.id));
  };
  for (let number = 0; number < PROGRAMS; number += 1) {
    const program = await operate('/programs', { name: `Program ${number}`, developer_id: developer.id });
    const programId = String(program.id);
    programIds.push(programId);
    liveKeys.push(String((await operate(`/programs/${programId}/approve`, {})).live_key));
    for (let nth = 0; nth < CHALLENGES_PER_PROGRAM; nth += 1) {
      const challenge = await operate(`/programs/${programId}/challenges`, {
        ...CHALLENGE,
        name: `Challenge ${number}.${nth}`,
      });
      challengeIds.push(String(challenge.id));
    }
    await openTournament(programId, `Cup ${number}`, PURSE_CENTS);
  }
  await openTournament(programIds[0] ?? '', 'Large cup', LARGE_PURSE_CENTS);
  return { programIds, liveKeys, challengeIds, tournamentIds, endpointId: String(endpoint.id) };
}

const METRIC = {
  environment: 'live',
  metric_name: 'points',
  metric_unit: 'points',
  threshold_direction: 'higher_is_better',
};

const CHALLENGE = {
  ...METRIC,
  fee: '1.00',
  prize: '4.00',
  target_pass_rate: 0.2,
  integrity_tier: 1,
  status: 'live',
  threshold: THRESHOLD,
};

const TOURNAMENT = { ...METRIC, entry_fee: '1.00', attempt_cap: 3, min_entrants: 2, round_length_seconds: 24 * 3600 };
