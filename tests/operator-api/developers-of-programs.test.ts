/**
 * A program gets another developer: who sees it then, whose endpoints get its events, and what a
 * gateway that dies between the steps leaves behind.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { playAttempt } from '../webhooks/play.ts';
import { type Developer, expectError, expectStatus, startWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ failpoints: true, restart: true });
});
afterAll(() => world?.[Symbol.asyncDispose]());

let old: Developer;
let next: Developer;
beforeEach(async () => {
  [old, next] = await Promise.all([world.newDeveloper(), world.newDeveloper()]);
});

const assign = (developerId: string | null) =>
  world.operator.updateProgram(old.program.id, { developer_id: developerId });
/** The status of the program in the portal of each developer. */
const shown = () =>
  Promise.all([old, next].map(async ({ portal }) => (await portal.send('GET', `/programs/${old.program.id}`)).status));
const play = () => playAttempt(world, { program: old.program });

describe('a program with another developer', () => {
  test('only the new developer of a program sees the program and gets its events', async () => {
    const [all, named, theirs] = [
      await world.newReceiver(old),
      await world.newReceiver(old, { program_id: old.program.id }),
      await world.newReceiver(next),
    ];
    const before = await play();
    const { deliveryId } = await all.event('attempt.settled', before);
    await named.event('attempt.settled', before);
    expectStatus(200, await old.portal.send('GET', `/deliveries/${deliveryId}`));

    const changed = expectStatus(200, await assign(next.id)).body;
    expect(changed).toMatchObject({ id: old.program.id, developer_id: next.id, status: 'approved' });
    expect(await shown()).toEqual([404, 200]);
    const after = await play();
    await theirs.event('attempt.settled', after);
    await world.allDelivered();
    const attemptsAt = (hook: typeof all) => hook.requests().map(({ json }) => json.data.attempt_id);
    expect([all, named, theirs].map(attemptsAt)).toEqual([[before], [before], [after]]);

    for (const path of [
      `/programs/${old.program.id}/attempts/${after}`,
      `/programs/${old.program.id}/requests?environment=test`,
      `/deliveries/${deliveryId}`,
    ]) {
      expectError(404, 'not_found', await old.portal.send('GET', path));
    }
    expectError(404, 'not_found', await old.portal.send('POST', `/deliveries/${deliveryId}/resend`));
    expectError(404, 'not_found', await old.portal.send('POST', `/programs/${old.program.id}/test-key`));
    expectError(404, 'not_found', await old.program.test.retryNow(deliveryId));
    expectStatus(200, await next.portal.send('GET', `/programs/${old.program.id}/attempts/${after}`));

    const { data } = expectStatus(
      200,
      await world.operator.send<{ data: { before: object; after: object; request: object }[] }>(
        'GET',
        `/actions?limit=1&subject=program:${old.program.id}`,
      ),
    ).body;
    expect(data).toMatchObject([
      {
        action: 'change_program',
        request: { body: { developer_id: next.id } },
        before: { developer_id: old.id },
        after: { developer_id: next.id },
      },
    ]);
  });

  test('the keys of a program with a new developer keep working until they are replaced', async () => {
    const { live, test: sandbox } = old.program;
    expectStatus(200, await assign(next.id));
    for (const partner of [live, sandbox]) expectStatus(200, await partner.listChallenges('anyone'));
    expectStatus(200, await next.portal.send('POST', `/programs/${old.program.id}/test-key`));
    expectStatus(200, await world.operator.replaceLiveKey(old.program.id));
    for (const partner of [live, sandbox]) expectStatus(401, await partner.listChallenges('anyone'));
  });

  test('no endpoint gets the events of a program without a developer', async () => {
    const hook = await world.newReceiver(old);
    expectStatus(200, await assign(null));
    expect(await shown()).toEqual([404, 404]);
    await play();
    await world.allDelivered();
    expect(hook.requests()).toEqual([]);
    expectStatus(200, await assign(old.id));
    await hook.event('attempt.settled', await play());
  });

  test('assigning an unknown developer is 404', async () => {
    expectError(404, 'not_found', await assign(randomUUID()));
    for (const developer_id of ['nobody', 7, '']) {
      const refused = await world.operator.updateProgram(old.program.id, { developer_id });
      expectError(400, 'invalid_request', refused);
    }
    const both = await world.operator.updateProgram(old.program.id, { developer_id: next.id, status: 'suspended' });
    expectError(400, 'invalid_request', both);
    expect(await shown()).toEqual([200, 404]);
  });
});

describe('a gateway that dies while a program gets another developer', () => {
  const dieAt = async (failpoint: string) => {
    world.stack.arm(failpoint, 'kill');
    expect((await assign(next.id)).status).toBe(0);
    await world.stack.ready();
  };
  const outcome = async () =>
    expectStatus(
      200,
      await world.operator.send<{ data: { outcome: string }[] }>(
        'GET',
        `/actions?limit=1&action=change_program&subject=program:${old.program.id}`,
      ),
    ).body.data[0]?.outcome;
  /** Resolves when the webhook service knows the developer. */
  const isKnown = (developerId: string) =>
    expect
      .poll(
        () =>
          world.stack
            .database('webhook')
            .query('select developer_id from programs where id = $1', [old.program.id])
            .then(([row]) => row?.developer_id),
        { timeout: 20_000 },
      )
      .toBe(developerId);

  test('a gateway that dies before the commit has not changed the developer', async () => {
    await dieAt('gateway.action.after-intent');
    expect(await shown()).toEqual([200, 404]);
    expect(await outcome()).toBe('unknown');
    await isKnown(old.id);
  });

  test('a worker announces the new developer if the gateway dies after the commit', async () => {
    const [before, after] = [await world.newReceiver(old), await world.newReceiver(next)];
    await dieAt('gateway.developer.after-commit');
    expect(await shown()).toEqual([404, 200]);
    expect(await outcome()).toBe('unknown');
    await isKnown(next.id);
    await after.event('attempt.settled', await play());
    await world.allDelivered();
    expect(before.requests()).toEqual([]);
  });

  test('only the result of the action is unknown if the gateway dies after the announcement', async () => {
    await dieAt('gateway.developer.after-announcement');
    expect(await shown()).toEqual([404, 200]);
    await isKnown(next.id);
    expect(await outcome()).toBe('unknown');
    expectStatus(200, await assign(next.id));
    expect(await outcome()).toBe('done');
  });
});
