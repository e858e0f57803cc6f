import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';
import { createPartnerProject, type PartnerProject } from './partner-project.ts';
import { RUNTIMES } from './runtimes.ts';

const run = promisify(execFile);

describe('the packed SDK in an empty project', () => {
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

  test.for(RUNTIMES)(
    'every operation of /v1 and of the sandbox works on $name',
    { timeout: 300_000 },
    async ({ name, program, flags }, { skip }) => {
      const found = await program();
      if ('missing' in found) return skip(`${name} is not tested: ${found.missing}`);
      const player = await world.newPlayer();
      const input = {
        baseUrl: world.stack.baseUrl,
        apiKey: world.partner.apiKey,
        challengeId: (await world.newChallenge()).id,
        calibratingId: (await world.newChallenge({ status: 'calibrating', threshold: null })).id,
        roundId: (await world.newRound()).id,
        playerRef: player.ref,
        email: player.email,
        run: randomUUID(),
      };
      const script = [project.add('every-operation.mjs'), JSON.stringify(input)];
      const { stdout } = await run(found.path, [...flags, ...script], { cwd: project.folder, timeout: 60_000 });
      expect(JSON.parse(stdout)).toEqual({
        linked: true,
        offered: true,
        source: 'partner_seeded',
        charged: '1.00',
        createdOnce: true,
        reportedOnce: true,
        status: 'settled',
        refusal: ['idempotency_key_reused', 409, expect.stringMatching(/^outcome-/)],
        tournaments: true,
        masked: 'enter_to_see',
        rotated: 64,
        active: 'active',
        listed: true,
        expired: ['expired', '1.00'],
        held: true,
        entriesClosed: true,
        ended: 'cancelled',
        refunded: true,
        noDelivery: 'not_found',
      });
      expect(await world.balance(player)).toBe('99.00');
    },
  );

  test('a CommonJS server can require the package on the oldest Node', { timeout: 300_000 }, async ({ skip }) => {
    const [oldest] = RUNTIMES;
    const found = await oldest?.program();
    if (found === undefined || 'missing' in found) return skip(`not tested: ${found?.missing}`);
    const script = `console.log(typeof require('@laurel/sdk').Laurel, process.version)`;
    const flags = ['--input-type=commonjs', '--no-warnings', '--eval', script];
    const { stdout } = await run(found.path, flags, { cwd: project.folder });
    expect(stdout.trim()).toBe('function v20.19.0');
  });
});
