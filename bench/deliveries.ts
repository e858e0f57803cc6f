// Measures events on their way to partners: from the commit in a contest service's outbox, through
// the stream and the webhook service, to a signed POST at an HTTPS receiver. The receiver reports
// the events that arrived.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectEvents, createOutbox, eventIdOf } from '@laurel/events';
import { createDatabase } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type Event, Owner } from '@laurel/proto/events';
import { createLogger } from '@laurel/service';
import type { Stack } from '@laurel/testing';
import { newOwnedId } from '@laurel/values/ids';
import type { Arrivals, ReceiverOrder } from './receiver.ts';
import { post } from './setup.ts';
import { percentiles } from './statistics.ts';

/** The most endpoints that a developer may have. */
const ENDPOINTS = 20;
const FLOOD_EVENTS = 20_000;
const PACED_PER_SECOND = 200;
const PACED_SECONDS = 15;
/** All deliveries of this part: one for each event. */
export const DELIVERIES = FLOOD_EVENTS + PACED_PER_SECOND * PACED_SECONDS;
/** How many events the challenge service commits together under load. */
const FLOOD_BATCH = 50;
const PACED_BATCH = 4;
const ARRIVAL_LIMIT_MS = 60_000;
const POLL_MS = 100;

/**
 * Returns the rows of a printed table; the first row is its head. Throws if an event did not
 * arrive, or arrived with a wrong signature.
 */
export async function measureDeliveries(stack: Stack): Promise<(string | number)[][]> {
  await using cleanup = new AsyncDisposableStack();
  const receiver = fork(new URL('receiver.ts', import.meta.url), { serialization: 'advanced' });
  cleanup.defer(() => void receiver.kill());
  const identity = await stack.ca.issue({ names: ['127.0.0.1'] });
  const port = await send<number>(receiver, { kind: 'listen', ...identity });
  const programIds = await registerEndpoints(stack, receiver, port);

  const owner = await openOutbox(stack, cleanup);
  const flood = Array.from({ length: FLOOD_EVENTS }, (_, index) => settledIn(programIds, index));
  const floodedFrom = Date.now();
  for (const batch of batchesOf(flood, FLOOD_BATCH)) await owner.commit(batch);
  const flooded = await arrivalsOf(receiver, flood.map(attemptOf));
  const floodMs = Math.max(...flooded.values()) - floodedFrom;

  const events = Array.from({ length: PACED_PER_SECOND * PACED_SECONDS }, (_, index) => settledIn(programIds, index));
  const committedAt = new Map<string, number>();
  const pacedFrom = Date.now();
  for (const batch of batchesOf(events, PACED_BATCH)) {
    const aheadMs = pacedFrom + (committedAt.size * 1000) / PACED_PER_SECOND - Date.now();
    if (aheadMs > 0) await sleep(aheadMs);
    await owner.commit(batch);
    for (const event of batch) committedAt.set(attemptOf(event), Date.now());
  }
  const arrived = await arrivalsOf(receiver, events.map(attemptOf));
  const { p50Ms, p99Ms } = percentiles([...committedAt].map(([id, at]) => (arrived.get(id) ?? 0) - at));

  return [
    ['webhooks, from the commit to the receiver', 'deliveries/s', 'p50 ms', 'p99 ms'],
    [
      `${FLOOD_EVENTS.toLocaleString('en')} events at once to ${ENDPOINTS} endpoints`,
      (FLOOD_EVENTS * 1000) / floodMs,
      '',
      '',
    ],
    [`events at a steady rate to ${ENDPOINTS} endpoints`, PACED_PER_SECOND, p50Ms, p99Ms],
  ];
}

/** Creates a developer with 20 programs, each with an endpoint. Returns the ids of the programs. */
async function registerEndpoints(stack: Stack, receiver: ChildProcess, port: number): Promise<string[]> {
  const operator = { authorization: `Bearer ${stack.operatorToken}` };
  const credentials = { email: `${randomUUID()}@example.com`, password: randomUUID() };
  const developer = await post(`${stack.baseUrl}/api/operator/developers`, operator, credentials);
  const session = await post(`${stack.baseUrl}/api/portal/session`, {}, credentials);
  const portal = { authorization: `Bearer ${session.token}` };
  const secrets: Record<string, string> = {};
  const programIds: string[] = [];
  for (let index = 0; index < ENDPOINTS; index += 1) {
    const program = await post(`${stack.baseUrl}/api/operator/programs`, operator, {
      name: `Receiver ${index}`,
      developer_id: developer.id,
    });
    const path = `/${program.id}`;
    const endpoint = await post(`${stack.baseUrl}/api/portal/webhook-endpoints`, portal, {
      url: `https://127.0.0.1:${port}${path}`,
      events: ['attempt.settled'],
      program_id: program.id,
    });
    secrets[path] = String(endpoint.signing_secret);
    programIds.push(String(program.id));
  }
  await send(receiver, { kind: 'secrets', secrets });
  return programIds;
}

/** Commits events to the challenge service's outbox, like the service. */
async function openOutbox(stack: Stack, cleanup: AsyncDisposableStack) {
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const { runningUrl: url } = stack.database('challenge');
  const database = cleanup.use(createDatabase({ url, maxConnections: 2, applicationName: 'laurel-bench' }));
  const stream = cleanup.use(connectEvents({ ...stack.events, name: 'bench', logger }));
  const outbox = cleanup.use(createOutbox({ owner: 'challenge', database, stream, logger }));
  return {
    async commit(events: readonly Event[]): Promise<void> {
      await database.transaction((tx) => outbox.insert(tx, events));
      outbox.publish(events);
    },
  };
}

/** The event of a lost attempt in one of the programs. */
function settledIn(programIds: readonly string[], index: number): Event {
  const attemptId = newOwnedId('challenge');
  const now = new Date();
  return {
    id: eventIdOf('attempt.settled', attemptId),
    occurredAt: now,
    tenant: { programId: programIds[index % programIds.length] ?? '', environment: Environment.TEST },
    owner: Owner.CHALLENGE,
    payload: {
      $case: 'attemptSettled',
      value: {
        attemptId,
        challengeId: randomUUID(),
        tournamentRoundId: '',
        playerRef: `bench-${index}`,
        score: index,
        metThreshold: false,
        award: undefined,
        recordedAt: now,
      },
    },
  };
}

function attemptOf({ payload }: Event): string {
  if (payload?.$case !== 'attemptSettled') throw new Error('not an event of this benchmark');
  return payload.value.attemptId;
}

/** Resolves when the events of all attempts have arrived; returns the first arrival of each. */
async function arrivalsOf(receiver: ChildProcess, attemptIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const until = Date.now() + ARRIVAL_LIMIT_MS;
  const missing = new Set(attemptIds);
  const arrived = new Map<string, number>();
  while (missing.size > 0) {
    if (Date.now() > until) throw new Error(`${missing.size} of ${attemptIds.length} events did not arrive`);
    await sleep(POLL_MS);
    const { firstAt, forged } = await send<Arrivals>(receiver, { kind: 'arrivals' });
    if (forged > 0) throw new Error(`${forged} requests had a wrong signature`);
    for (const [attemptId, at] of firstAt) if (missing.delete(attemptId)) arrived.set(attemptId, at);
  }
  return arrived;
}

function batchesOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

async function send<Answer>(receiver: ChildProcess, order: ReceiverOrder): Promise<Answer> {
  receiver.send(order);
  const [answer] = (await once(receiver, 'message')) as [Answer];
  return answer;
}
