import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { NODE } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { type Fate, startLossyProxy } from './lossy-proxy.ts';
import { createPartnerProject, type PartnerProject } from './partner-project.ts';

describe("a partner's process that is killed while it reports an outcome", () => {
  let world: SharedWorld;
  let project: PartnerProject;
  beforeAll(async () => {
    world = await joinWorld();
    project = await createPartnerProject();
  });
  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  test.each<{ moment: string; fate: Fate; replayed: boolean }>([
    { moment: 'Laurel has settled the attempt', fate: 'hold after', replayed: true },
    { moment: 'the report has left the process', fate: 'hold before', replayed: false },
  ])(
    'a partner’s process that is killed when $moment reports again, and there is one outcome, paid once',
    async ({ fate, replayed }) => {
      const player = await world.newPlayer();
      const challenge = await world.newChallenge();
      const entry = { challenge_id: challenge.id, player_ref: player.ref };
      const { id: attemptId } = expectStatus(201, await world.partner.createAttempt(entry)).body;
      const argumentsFor = (baseUrl: string) => [
        project.add('report-outcome.mjs'),
        JSON.stringify({ baseUrl, apiKey: world.partner.apiKey, attemptId, score: 150 }),
      ];

      const held = Promise.withResolvers<void>();
      await using proxy = await startLossyProxy(world.stack.baseUrl, () => fate, held.resolve);
      const killed = spawn(NODE, argumentsFor(proxy.baseUrl), { cwd: project.folder, stdio: 'inherit' });
      const ended = once(killed, 'exit');
      await Promise.race([held.promise, ended.then(() => expect.fail('it ended before its request was held'))]);
      killed.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);

      const { stdout } = await promisify(execFile)(NODE, argumentsFor(world.stack.baseUrl), { cwd: project.folder });
      const again = JSON.parse(stdout);
      expect(again.replayed).toBe(replayed);
      const { body: attempt } = expectStatus(200, await world.partner.getAttempt(attemptId));
      const { payout_status, ...award } = again.outcome.award;
      expect(payout_status).toBe('paid');
      expect(attempt).toMatchObject({ status: 'settled', outcome: { ...again.outcome, award } });
      // 100.00, minus the fee of 1.00, plus the prize of 5.00 once.
      expect(await world.balance(player)).toBe('104.00');
    },
  );
});
