/**
 * All services in one process, without a port for gRPC: a flow through all services, what operators
 * see of each, and what a stop and a crash of the process leave behind. Then a process of five
 * services with the wallet in another process. With LAUREL_TEST_SHAPE=one-process the other suites
 * run in this shape too.
 */
import { randomUUID } from 'node:crypto';
import type { Attempt } from '@laurel/sdk';
import { SERVICES, type Service } from '@laurel/testing';
import { isCalled } from '@laurel/topology';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectStatus, startWorld, type World } from '../world.ts';

const environment = {
  ...Object.fromEntries(SERVICES.filter(isCalled).map((name) => [name, { GRPC_PORT: 'in-process' }])),
  gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' },
};

describe('all services in one process', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ shape: 'one-process', environment, failpoints: true });
  }, 120_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  const pid = () => world.stack.pids('gateway')[0] ?? expect.fail('the process does not run');

  test('one process serves an attempt from its fee to its prize and its webhook', async () => {
    expect(new Set(SERVICES.flatMap((service) => world.stack.pids(service)))).toEqual(new Set([pid()]));
    const developer = await world.newDeveloper();
    const hook = await world.newReceiver(developer);
    const partner = developer.program.test;
    const player = await world.newPlayer({ partner, funds: '10.00' });
    const challenge = await world.newChallenge({}, developer.program);
    const creation = { challenge_id: challenge.id, player_ref: player.ref };
    const { body: attempt } = expectStatus(201, await partner.createAttempt(creation));
    const { body: outcome } = expectStatus(200, await partner.reportOutcome(attempt.id, { score: 100 }));
    expect(outcome.met_threshold).toBe(true);
    await hook.event('attempt.settled', attempt.id);
    await world.allWritten();
    // The fee is 1.00, the prize 5.00.
    expect(await world.balance(player)).toBe('14.00');
    await world.expectAuditOk();
  });

  test('the admin port of one process labels the metrics of each service', async () => {
    const [url] = world.stack.adminUrls('wallet');
    const page = await (await fetch(`${url}/metrics`)).text();
    for (const service of SERVICES) {
      expect(page).toMatch(new RegExp(`^laurel_build_info\\{[^}]*service="${service}"\\} 1$`, 'm'));
      expect(page).toMatch(new RegExp(`^laurel_clock_difference_seconds\\{service="${service}"\\}`, 'm'));
    }
    const chargeFees = 'rpc="/laurel.wallet.v1.WalletService/ChargeFees",outcome="ok"';
    expect(page).toMatch(new RegExp(`^laurel_grpc_client_seconds_count\\{service="challenge",${chargeFees}\\}`, 'm'));
    expect(page).toMatch(new RegExp(`^laurel_grpc_server_seconds_count\\{service="wallet",${chargeFees}\\}`, 'm'));
    expect(page).toMatch(/^laurel_wallet_batch_items_count\{service="wallet"/m);
    expect(page).toMatch(/^laurel_connections\{service="gateway"\}/m);
    const heads = page.split('\n').filter((line) => line.startsWith('# HELP '));
    expect(new Set(heads).size).toBe(heads.length);
    const dependencies = await fetch(`${url}/readyz/dependencies`);
    expect([dependencies.status, await dependencies.text()]).toEqual([200, 'ready']);
  });

  test('a crash after the wallet has charged a fee leaves one attempt with one fee', async () => {
    const player = await world.newPlayer({ funds: '10.00' });
    const challenge = await world.newChallenge();
    const key = randomUUID();
    const creation = { challenge_id: challenge.id, player_ref: player.ref };
    const ended = world.stack.onExit('wallet');
    world.stack.arm('wallet.charge.after-commit', 'kill');
    await world.partner.createAttempt(creation, key);
    await ended;
    await world.stack.restart('wallet');
    const attempt = await eventually(async () => {
      const answer = await world.partner.createAttempt(creation, key);
      return answer.status === 201 ? answer.body : undefined;
    }, 'the attempt was created');
    expectStatus(200, await world.partner.reportOutcome(attempt.id, { score: 1 }));
    await world.allWritten();
    expect(await world.balance(player)).toBe('9.00');
    await world.expectAuditOk();
  });

  test('a stop under load loses no acknowledged request', async () => {
    const challenge = await world.newChallenge();
    const players = await Promise.all(Array.from({ length: 8 }, () => world.newPlayer({ funds: '100.00' })));
    const created: Attempt[] = [];
    let isStopping = false;
    const play = async (ref: string) => {
      for (;;) {
        const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
        if (answer.status === 201) created.push(answer.body);
        else if (isStopping) return;
        else expectStatus(201, answer);
      }
    };
    const playing = players.map(({ ref }) => play(ref));
    await eventually(async () => created.length > 40 || undefined, 'attempts were created');
    isStopping = true;
    expect(await world.stack.stop('gateway')).toBe(0);
    await Promise.all(playing);
    expect(world.stack.logs('gateway').filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
    const stoppedAt = (service: Service): number => {
      const line = world.stack
        .logs(service)
        .findLast((each) => each.includes('"msg":"stopped"') && each.includes(`"service":"${service}"`));
      return Date.parse((JSON.parse(line ?? expect.fail(`${service} did not stop`)) as { time: string }).time);
    };
    const order = (['gateway', 'integration', 'challenge', 'wallet'] as const).map(stoppedAt);
    expect(order).toEqual([...order].sort((one, other) => one - other));

    await world.stack.restart('gateway');
    for (const attempt of created) expectStatus(200, await world.partner.getAttempt(attempt.id));
    await world.allWritten();
    await world.expectAuditOk();
  });

  test('each line of the log names its service', () => {
    const lines = SERVICES.flatMap((service) => world.stack.logs(service));
    const named = new Set(lines.map((line) => (JSON.parse(line) as { service: string }).service));
    expect([...named].sort()).toEqual([...SERVICES, 'one-process'].sort());
  });
});

describe('two processes of five services beside a wallet', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ shape: 'one-process', apart: ['wallet'], replicas: { gateway: 2 } });
  }, 120_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('a service in a process of its own is called over gRPC', async () => {
    expect(world.stack.pids('wallet')).toHaveLength(1);
    expect(world.stack.pids('challenge')).toEqual(world.stack.pids('gateway'));
    expect(world.stack.pids('gateway')).not.toContain(world.stack.pids('wallet')[0]);
    const player = await world.newPlayer({ funds: '10.00' });
    const challenge = await world.newChallenge();
    const creation = { challenge_id: challenge.id, player_ref: player.ref };
    for (let count = 0; count < 4; count += 1) {
      const { body: attempt } = expectStatus(201, await world.partner.createAttempt(creation));
      expectStatus(200, await world.partner.reportOutcome(attempt.id, { score: 1 }));
    }
    await world.allWritten();
    expect(await world.balance(player)).toBe('6.00');
    await world.expectAuditOk();

    const pageOf = async (url: string | undefined) => (await fetch(`${url}/metrics`)).text();
    const served = /^laurel_grpc_server_seconds_count\{[^}]*WalletService\/ChargeFees[^}]*\}/m;
    expect(await pageOf(world.stack.adminUrls('wallet')[0])).toMatch(served);
    const pages = (await Promise.all(world.stack.adminUrls('gateway').map(pageOf))).join('\n');
    expect(pages).not.toMatch(served);
    expect(pages).toMatch(/^laurel_grpc_server_seconds_count\{[^}]*AttemptService\/CreateAttempts[^}]*\}/m);
  });
});
