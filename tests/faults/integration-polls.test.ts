/**
 * The integration service is killed at each step of a poll. Once the lease has run out, the service
 * requests the page again: the report settles its attempt once, and the cursor then points after
 * the page.
 */
import { randomUUID } from 'node:crypto';
import { type Receiver, startReceiver } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, expectStatus, startWorld, type World } from '../world.ts';
import { FAILPOINTS } from './points.ts';
import { lapsePollLeases } from './waits.ts';

const POINTS = FAILPOINTS.integration.filter((point) => point.startsWith('integration.poll.'));

let world: World;
let receiver: Receiver;
let challengeId: string;

beforeAll(async () => {
  world = await startWorld({ failpoints: true, restart: true, standby: ['integration'], internalTls: false });
  receiver = await startReceiver({ ca: world.stack.ca });
  challengeId = (await world.newChallenge()).id;
});
afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

async function openAttempt(): Promise<string> {
  const { ref } = await world.newPlayer();
  const answer = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref }, randomUUID());
  return expectStatus(201, answer).body.id;
}

/** An integration that is due now, whose one page, under a separate path, reports the attempt. */
async function newIntegration(id: string): Promise<void> {
  const database = world.stack.database('integration');
  const programId = world.program.id;
  await database.query(
    `insert into programs (id, open_environments, version) values ($1, array['test'], 0) on conflict (id) do nothing`,
    [programId],
  );
  const descriptor = {
    version: 1,
    map: { records: '/events', attempt: { attempt_id: '/attempt' }, score: '/score' },
    pull: { url: `${receiver.url}/${id}`, paging: { type: 'cursor', param: 'after', pointer: '/next' }, max_pages: 1 },
  };
  await database.query(
    `insert into integrations (id, program_id, environment, transport, status, descriptor, pull_origin, pull_interval_seconds, next_poll_at,
       created_at)
     values ($1, $2, 'test', 'pull_poll', 'active', $3::json, $4, 3600, now(), now())`,
    [id, programId, JSON.stringify(descriptor), receiver.url],
  );
}

test('a poll settles its report once although the service is killed at any step', async () => {
  const { stack } = world;
  const cases = await Promise.all(POINTS.map(async (point) => ({ point, id: newId(), attempt: await openAttempt() })));
  receiver.answerWith(({ path }) => {
    const polled = cases.find(({ id }) => path.startsWith(`/${id}`));
    return { body: JSON.stringify({ events: [{ attempt: polled?.attempt, score: 1 }], next: 'c1' }) };
  });
  for (const { point, id } of cases) {
    stack.arm(point, 'kill');
    await newIntegration(id);
    await eventually(async () => stack.isFired(point) || undefined, `${point} was hit`);
    const diedAt = new Date();
    await stack.ready();
    await lapsePollLeases(stack, diedAt);
  }

  for (const { point, id, attempt } of cases) {
    const ended = await eventually(async () => {
      const [row] = await stack.database('integration').query(
        `select cursor, consecutive_failures, next_poll_at = last_polled_at + interval '1 hour' as is_true
         from integrations where id = $1 and leased_until is null and cursor is not null`,
        [id],
      );
      return row;
    }, `the poll that was killed at ${point} is made again`);
    expect(ended).toEqual({ cursor: 'c1', consecutive_failures: 0, is_true: true });
    expect(expectStatus(200, await world.partner.getAttempt(attempt)).body.outcome).toMatchObject({ score: 1 });
    const outcomes = await stack
      .database('challenge')
      .query('select attempt_id from outcomes where attempt_id = $1', [attempt]);
    expect(outcomes).toEqual([{ attempt_id: attempt }]);
  }
});
