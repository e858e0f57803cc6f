// Polls of 1,000 integrations at the shortest interval, a tenth of them black-holed: the time
// between two polls of one integration, as partners see it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import type { PartnerOrder, PartnerPorts, PollArrivals } from './poll-partner.ts';
import { usageOf } from './processes.ts';
import { percentiles } from './statistics.ts';

const PROMPT = 900;
const DEAF = 100;
/** The prompt integrations share these origins; each of the others has a separate one. */
const PROMPT_ORIGINS = 90;
const INTERVAL_MS = 30_000;
/** A poll later than this is more than a tenth late. */
const LATE_MS = INTERVAL_MS * 1.1;
/** The run is so long that each integration has at least three intervals. */
const MIN_MS = 4 * INTERVAL_MS;
const READ_MEMORY_MS = 1_000;

type Partner = { readonly id: string; readonly url: string; readonly arrivesAs: string };

/**
 * Returns the rows of a printed table; the first row is its head. Throws if an integration was not
 * polled twice.
 */
export async function measurePolls(stack: Stack, durationMs: number): Promise<(string | number)[][]> {
  await using cleanup = new AsyncDisposableStack();
  const server = fork(new URL('poll-partner.ts', import.meta.url), { serialization: 'advanced' });
  cleanup.defer(() => void server.kill());
  const addresses = Array.from({ length: PROMPT_ORIGINS }, (_, index) => `127.1.0.${index + 1}`);
  const identity = await stack.ca.issue({ names: addresses });
  const ports = await send<PartnerPorts>(server, { kind: 'listen', ...identity });

  const prompt = Array.from({ length: PROMPT }, (_, index): Partner => {
    const path = `/${newOwnedId('challenge')}`;
    return { id: newId(), url: `https://${addresses[index % PROMPT_ORIGINS]}:${ports.prompt}${path}`, arrivesAs: path };
  });
  const deaf = Array.from({ length: DEAF }, (_, index): Partner => {
    const address = `127.2.0.${index + 1}`;
    return { id: newId(), url: `https://${address}:${ports.deaf}/`, arrivesAs: address };
  });
  await insertIntegrations(stack, mixed(prompt, deaf));
  const residentMiB = await mostMemoryDuring(stack, Math.max(durationMs, MIN_MS));
  const arrivals = await send<PollArrivals>(server, { kind: 'arrivals' });
  await suspendAll(stack);

  return [
    ['polls every 30 s', 'integrations', 'polls', 'interval p50 s', 'p99 s', 'late (> 33 s)', 'resident MiB'],
    rowOf('answered immediately', prompt, arrivals, residentMiB),
    rowOf('black-holed', deaf, arrivals, residentMiB),
  ];
}

/** Puts one black-holed partner after every nine prompt ones. */
function mixed(prompt: readonly Partner[], deaf: readonly Partner[]): Partner[] {
  const share = PROMPT / DEAF;
  return deaf.flatMap((one, index) => [...prompt.slice(index * share, (index + 1) * share), one]);
}

function rowOf(name: string, partners: readonly Partner[], arrivals: PollArrivals, residentMiB: number) {
  const times = partners.map(({ arrivesAs }) => arrivals.get(arrivesAs) ?? []);
  if (times.some((arrived) => arrived.length < 2)) throw new Error(`an integration was not polled twice: ${name}`);
  const intervals = times.flatMap((arrived) => arrived.slice(1).map((at, index) => at - (arrived[index] ?? 0)));
  const { p50Ms, p99Ms } = percentiles(intervals);
  const late = intervals.filter((interval) => interval > LATE_MS).length;
  const polls = times.reduce((sum, arrived) => sum + arrived.length, 0);
  return [name, partners.length, polls, p50Ms / 1_000, p99Ms / 1_000, late, Math.round(residentMiB)];
}

/** Inserts the integrations, and spreads their due times over one interval. */
async function insertIntegrations(stack: Stack, partners: readonly Partner[]): Promise<void> {
  const database = stack.database('integration');
  const programId = newId();
  await database.query(`insert into programs (id, open_environments, version) values ($1, array['test'], 1)`, [
    programId,
  ]);
  await database.query(
    `
insert into integrations (id, program_id, environment, transport, status, descriptor, pull_origin, pull_interval_seconds, next_poll_at,
  created_at)
select id, $1, 'test', 'pull_poll', 'active', descriptor::json, origin, $5::int, now() + make_interval(secs => $5::int * place / $6::float8), now()
from unnest($2::uuid[], $3::text[], $4::text[]) with ordinality as w (id, descriptor, origin, place)`,
    [
      programId,
      partners.map(({ id }) => id),
      partners.map(({ url }) => JSON.stringify({ version: 1, pull: { url } })),
      partners.map(({ url }) => new URL(url).origin),
      INTERVAL_MS / 1_000,
      partners.length,
    ],
  );
}

async function suspendAll(stack: Stack): Promise<void> {
  await stack
    .database('integration')
    .query(`update integrations set status = 'suspended', next_poll_at = null where transport = 'pull_poll'`);
}

/** The most memory that the integration service used. */
async function mostMemoryDuring(stack: Stack, durationMs: number): Promise<number> {
  const until = Date.now() + durationMs;
  let most = 0;
  while (Date.now() < until) {
    await sleep(READ_MEMORY_MS);
    for (const pid of stack.pids('integration')) most = Math.max(most, usageOf(pid, false).residentMiB);
  }
  return most;
}

async function send<Answer>(server: ChildProcess, order: PartnerOrder): Promise<Answer> {
  server.send(order);
  const [answer] = (await once(server, 'message')) as [Answer];
  return answer;
}
