import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { signWebhook } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { createPartnerProject, type PartnerProject } from './partner-project.ts';
import { type PlayerServer, startPlayerServer, startWorker } from './player-servers.ts';
import { fetchProgram, OLDEST_NODE, RUNTIMES, WORKERD } from './runtimes.ts';

const run = promisify(execFile);

const VERIFIED = {
  webhooks: ['webhook.test', 'signature_mismatch'],
  receipts: ['valid', 'not_valid'],
};

describe('the packed SDK in an empty project', () => {
  let world: SharedWorld;
  let project: PartnerProject;
  /** A receipt of Laurel's, and the keys to verify it. */
  let signed: { readonly receipt: unknown; readonly keyList: unknown };
  beforeAll(async () => {
    world = await joinWorld();
    project = await createPartnerProject();
    const { receipt_id } = await world.playRound((await world.newRound()).id, await world.newPlayer(), 12.5);
    const keys = await fetch(new URL('/.well-known/laurel-keys.json', world.stack.baseUrl));
    signed = {
      receipt: expectStatus(200, await world.operator.getReceipt(receipt_id)).body,
      keyList: await keys.json(),
    };
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
        ...signed,
      };
      project.add('verifications.mjs');
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
        verified: VERIFIED,
      });
      expect(await world.balance(player)).toBe('99.00');
    },
  );

  /** A server with the player handler serves pages of its own site, and refuses those of others. */
  async function expectServesPlayers({ origin }: PlayerServer): Promise<void> {
    const { id } = await world.newChallenge();
    const player = await world.newPlayer();
    const ask = async (method: string, path: string, { as = player.ref, body = {}, headers = {} } = {}) => {
      const response = await fetch(`${origin}/laurel/${path}`, {
        method,
        headers: { connection: 'close', 'x-player': as, origin, 'content-type': 'application/json', ...headers },
        ...(method === 'POST' && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    };
    const refusal = (status: number, code: string) => ({
      status,
      body: { error: { code, message: expect.any(String) } },
    });
    const entry = { body: { arm_id: randomUUID(), challenge_id: id } };

    const { data } = (await ask('GET', 'challenges')).body as { data: { id: string; fee: string }[] };
    expect(data.find((challenge) => challenge.id === id)?.fee).toBe('1.00');
    const paid = await ask('POST', 'attempts', entry);
    expect(paid).toMatchObject({ status: 201, body: { challenge_id: id, status: 'open', fee_charged: '1.00' } });
    expect(await ask('POST', 'attempts', entry)).toEqual(paid);
    const own = `attempts/${(paid.body as { id: string }).id}`;
    expect(await ask('GET', own)).toEqual({ ...paid, status: 200 });

    expect(await ask('GET', own, { as: 'another player' })).toEqual(refusal(404, 'not_found'));
    expect(await ask('GET', own, { as: '' })).toEqual(refusal(401, 'unauthorized'));
    expect(await ask('POST', `${own}/outcome`, { body: { score: 200 } })).toEqual(
      refusal(410, 'client_reporting_removed'),
    );
    const another = { body: { ...entry.body, arm_id: randomUUID() } };
    for (const headers of [{ origin: 'https://other.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      expect(await ask('POST', 'attempts', { ...another, headers })).toEqual(refusal(403, 'cross_origin'));
    }
    const long = { ...another.body, metadata: 'x'.repeat(100_000) };
    expect(await ask('POST', 'attempts', { body: long })).toEqual(refusal(400, 'invalid_request'));
    expect(await world.balance(player)).toBe('99.00');
  }

  test.for(RUNTIMES)(
    'the handler serves players’ calls on $name',
    { timeout: 300_000 },
    async ({ name, program, flags }, { skip }) => {
      const found = await program();
      if ('missing' in found) return skip(`${name} is not tested: ${found.missing}`);
      const settings = { baseUrl: world.stack.baseUrl, apiKey: world.partner.apiKey };
      await using server = await startPlayerServer(project, { path: found.path, flags }, settings);
      await expectServesPlayers(server);
    },
  );

  test('the client, the handler and the verifications work in a worker', { timeout: 300_000 }, async ({ skip }) => {
    const found = await fetchProgram(WORKERD);
    if ('missing' in found) return skip(`workerd is not tested: ${found.missing}`);
    const settings = { baseUrl: world.stack.baseUrl, apiKey: world.partner.apiKey };
    await using server = await startWorker(project, found.path, settings);
    await expectServesPlayers(server);
    const posted = { method: 'POST', headers: { connection: 'close' }, body: JSON.stringify(signed) };
    expect(await (await fetch(`${server.origin}/verify`, posted)).json()).toEqual(VERIFIED);
  });

  test('CommonJS code on the oldest Node can require the package', { timeout: 300_000 }, async ({ skip }) => {
    const found = await fetchProgram(OLDEST_NODE);
    if ('missing' in found) return skip(`not tested: ${found.missing}`);
    const script = `console.log(typeof require('@laurel/sdk').Laurel, process.version)`;
    const flags = ['--input-type=commonjs', '--no-warnings', '--eval', script];
    const { stdout } = await run(found.path, flags, { cwd: project.folder });
    expect(stdout.trim()).toBe('function v20.19.0');
  });

  test('the installed command runs by its name on the oldest Node', { timeout: 300_000 }, async ({ skip }) => {
    const found = await fetchProgram(OLDEST_NODE);
    if ('missing' in found) return skip(`not tested: ${found.missing}`);
    const programs = join(project.folder, 'programs');
    mkdirSync(programs);
    symlinkSync(found.path, join(programs, 'node'));
    const PATH = [join(project.folder, 'node_modules/.bin'), programs, process.env.PATH].join(delimiter);
    const environment = { cwd: project.folder, env: { ...process.env, PATH, LAUREL_WEBHOOK_SECRET: 'whsec_test' } };
    expect((await run('node', ['--version'], environment)).stdout.trim()).toBe('v20.19.0');
    expect((await run('laurel', ['--help'], environment)).stdout).toMatch(/^usage: laurel <command>/);

    const body = '{"event":"webhook.test","timestamp":"2026-01-31T12:00:00.000Z","data":{"message":"x"}}';
    const verifying = run(
      'laurel',
      ['verify-webhook', '--signature', await signWebhook(body, 'whsec_test')],
      environment,
    );
    verifying.child.stdin?.end(body);
    expect((await verifying).stdout).toMatch(/^VALID: webhook\.test of 2026-01-31T12:00:00\.000Z$/m);
  });
});
