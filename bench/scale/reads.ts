/** Reads over HTTP, one at a time: old attempts, the large board, the operator's lists. */
import type { Stack } from '@laurel/testing';
import { leastIdAt } from '@laurel/values/ids';
import { percentiles } from '../statistics.ts';
import type { Contests } from './contests.ts';
import type { Figure } from './figures.ts';
import { PROGRAMS, type Shape } from './shape.ts';

const OLD_ATTEMPTS = 300;
/** Each read is sent `TIMES` times, and ends early after `LIMIT_MS`. */
const TIMES = 200;
const LIMIT_MS = 20_000;
const DAY_MS = 86_400_000;

const ATTEMPT_OF_CHALLENGE = `
  select a.id, c.program_id from attempts a join challenges c on c.id = a.challenge_id where a.id >= $1 order by a.id limit 1`;
const LARGE_ROUND = `select id from rounds where tournament_id = $1 and number = 1`;
const AT_PLACE = `
  select best_player_ref as player_ref, account_id from entries where round_id = $1 and final_rank = $2`;
/** A round of the first program that ended half a year ago, and one of its players. */
const OLD_ROUND = `
  select r.id, e.best_player_ref as player_ref from rounds r join entries e on e.round_id = r.id and e.final_rank = 2
  where r.tournament_id = $1 and r.status = 'settled' and r.closes_at >= $2 order by r.closes_at limit 1`;

interface Read {
  readonly name: string;
  readonly headers: Record<string, string>;
  /** The paths to request, in this order and then again from the first. */
  readonly paths: readonly string[];
  readonly times?: number;
}

export async function measureReads(stack: Stack, shape: Shape, contests: Contests): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const read of await readsOf(stack, shape, contests)) figures.push(await measure(stack.baseUrl, read));
  return figures;
}

async function readsOf(stack: Stack, shape: Shape, contests: Contests): Promise<Read[]> {
  const { programIds, liveKeys, challengeIds, tournamentIds } = contests;
  const operator = { authorization: `Bearer ${stack.operatorToken}` };
  const partner = { 'x-api-key': liveKeys[0] ?? '' };
  const [round] = await stack.database('tournament').query<{ id: string }>(LARGE_ROUND, [tournamentIds[PROGRAMS]]);
  const middle = Math.floor(shape.accounts / 2);
  const [player] = await stack
    .database('tournament')
    .query<{ player_ref: string; account_id: string }>(AT_PLACE, [round?.id, middle]);
  const [old] = await stack
    .database('tournament')
    .query<{ id: string; player_ref: string }>(OLD_ROUND, [tournamentIds[0], new Date(shape.startMs + 182 * DAY_MS)]);
  const boardOf = (roundId = '') => `/v1/tournaments/rounds/${roundId}/leaderboard`;
  const account = `account_id=${player?.account_id}`;
  const program = `program_id=${programIds[0]}&environment=live`;
  const today = Date.now();
  const day = (ago: number) => new Date(today - ago * DAY_MS).toISOString().slice(0, 10);
  const list = (name: string, path: string): Read => ({
    name: `operator: ${name}`,
    headers: operator,
    paths: [`/api/operator${path}`],
  });
  return [
    ...(await oldAttempts(stack, shape, contests)),
    { name: 'large board, without a player', headers: partner, paths: [boardOf(round?.id)] },
    {
      name: `complete board of ${shape.entrants} rows, of an old round, for a player`,
      headers: partner,
      paths: [`${boardOf(old?.id)}?player_ref=${old?.player_ref}`],
    },
    {
      name: `complete board of ${shape.accounts.toLocaleString('en')} rows, for a player`,
      headers: partner,
      paths: [`${boardOf(round?.id)}?player_ref=${player?.player_ref}`],
      times: 3,
    },
    list('standings of the large round', `/rounds/${round?.id}/standings`),
    list('standing of one account of it', `/rounds/${round?.id}/standings?${account}`),
    list('attempts of a program', `/attempts?${program}`),
    list('attempts of an account', `/attempts?${account}`),
    list('payouts', '/payouts'),
    list('payouts of an account', `/payouts?${account}`),
    list('payouts held (none)', '/payouts?status=held'),
    list('accounts', '/accounts'),
    list('an account by e-mail', `/accounts?email=${player?.player_ref}@example.com`),
    list('accounts blocked (none)', '/accounts?flag=blocked'),
    list('statement of an account', `/accounts/${player?.account_id}/statement?environment=live`),
    {
      name: 'operator: statistics of another challenge each time',
      headers: operator,
      paths: challengeIds.map((id) => `/api/operator/challenges/${id}/statistics`),
      times: challengeIds.length,
    },
    list('money of 30 days', `/money?from=${day(29)}&to=${day(0)}`),
    list('money of 92 days', `/money?from=${day(91)}&to=${day(0)}`),
  ];
}

/** Attempts of challenges from the first half of the year; their partner reads each once. */
async function oldAttempts(
  { database }: Stack,
  { startMs }: Shape,
  { programIds, liveKeys }: Contests,
): Promise<Read[]> {
  const byProgram = new Map<string, string[]>();
  for (let number = 0; number < OLD_ATTEMPTS; number += 1) {
    const at = new Date(startMs + ((number * 182) / OLD_ATTEMPTS) * DAY_MS);
    const [row] = await database('challenge').query<{ id: string; program_id: string }>(ATTEMPT_OF_CHALLENGE, [
      leastIdAt(at),
    ]);
    if (row !== undefined) byProgram.set(row.program_id, [...(byProgram.get(row.program_id) ?? []), row.id]);
  }
  const [programId = '', ids = []] = [...byProgram].sort(([, one], [, other]) => other.length - one.length)[0] ?? [];
  return [
    {
      name: 'GET of an old attempt',
      headers: { 'x-api-key': liveKeys[programIds.indexOf(programId)] ?? '' },
      paths: ids.map((id) => `/v1/attempts/${id}`),
      times: ids.length,
    },
  ];
}

async function measure(baseUrl: string, { name, headers, paths, times = TIMES }: Read): Promise<Figure> {
  const latenciesMs: number[] = [];
  const statuses = new Set<number>();
  const until = performance.now() + LIMIT_MS;
  while (latenciesMs.length < times && performance.now() < until) {
    const sentAt = performance.now();
    const answer = await fetch(baseUrl + (paths[latenciesMs.length % paths.length] ?? ''), { headers });
    await answer.arrayBuffer();
    latenciesMs.push(performance.now() - sentAt);
    statuses.add(answer.status);
  }
  const { p50Ms, p99Ms } = percentiles(latenciesMs);
  const failed = [...statuses].filter((status) => status !== 200);
  return {
    name,
    p50Ms,
    p99Ms,
    note: `${latenciesMs.length} times${failed.map((status) => `, status ${status}`).join('')}`,
  };
}
