/**
 * The document of the routes under `/api` is valid OpenAPI 3.1, and each route responds as
 * documented: the client checks every response.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createIntegrations } from '@laurel/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  type Developer,
  expectError,
  expectStatus,
  inMinutes,
  joinWorld,
  liveTerms,
  type Player,
  type SharedWorld,
  tournamentTerms,
} from '../world.ts';
import { differences, recordExamples } from './record-examples.ts';

const RECORDED = new URL('../../services/gateway/src/openapi/examples/recorded.json', import.meta.url);

let world: SharedWorld;
beforeAll(async () => {
  world = await joinWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('the document of the routes under /api is valid OpenAPI 3.1', async () => {
  const text = readFileSync(new URL('../../docs/openapi/portal-api.yaml', import.meta.url), 'utf8');
  const { valid, errors } = await new Validator().validate(parse(text, { maxAliasCount: -1 }));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

describe('the document of the routes under /api: success', () => {
  /** The routes of one prefix without a documented success so far. */
  const missing = (prefix: string) =>
    [...world.contract.ownDocumented].filter(
      (entry) => / 2\d\d$/.test(entry) && entry.includes(` ${prefix}`) && !world.contract.ownSeen.has(entry),
    );

  async function settle(player: Player, score: number) {
    const { id: challenge_id } = await world.newChallenge();
    const { id } = expectStatus(201, await world.partner.createAttempt({ challenge_id, player_ref: player.ref })).body;
    return expectStatus(200, await world.partner.reportOutcome(id, { score })).body;
  }

  async function hold(): Promise<string> {
    const player = await world.newPlayer();
    expectStatus(204, await world.partner.holdNextAward(player.ref));
    const { award } = await settle(player, 100);
    return award?.id ?? expect.fail('no award');
  }

  /** Calls every route of the sandbox as a signed-in developer. */
  async function playInSandbox(developer: Developer): Promise<void> {
    const { portal, program } = developer;
    const sandbox = `/programs/${program.id}/sandbox`;
    const post = <Body>(path: string, body?: object) =>
      portal.send<Body>('POST', `${sandbox}${path}`, body === undefined ? {} : { body });
    const player_ref = `player-${randomUUID()}`;
    expectStatus(201, await post('/players', { player_ref, funds: '20.00' }));
    expectStatus(204, await post(`/players/${player_ref}/hold-next-award`));
    const { id: challenge_id } = await world.newChallenge({}, program);
    const create = async () =>
      expectStatus(201, await post<{ id: string }>('/attempts', { challenge_id, player_ref })).body.id;
    const hook = await world.newReceiver(developer, { answer: { status: 500, body: 'not now' } });
    const expired = await create();
    expectStatus(200, await post(`/attempts/${expired}/expire`));
    const { deliveryId } = await hook.event('attempt.refunded', expired);
    await hook.delivery(deliveryId, ({ attempts }) => attempts[0]?.http_status === 500);
    expectStatus(202, await post(`/webhook-deliveries/${deliveryId}/retry-now`));
    const settled = await create();
    expectStatus(200, await post(`/attempts/${settled}/outcome`, { score: 100 }));
    // A report that is repeated after its response was lost pays nothing again.
    expectError(409, 'attempt_already_settled', await post(`/attempts/${settled}/outcome`, { score: 100 }));
    const { id: roundId } = await world.newRound({}, program);
    expectStatus(200, await post(`/rounds/${roundId}/close-entries`));
    expectStatus(200, await post(`/rounds/${roundId}/close`));
    expectStatus(200, await portal.send('GET', `${sandbox}/events?from=oldest`));
  }

  /** Calls every route of a program's integrations as a signed-in developer. */
  async function setUpIntegration({ portal, program }: Developer): Promise<void> {
    const integrations = `/programs/${program.id}/integrations`;
    const send = <Body>(method: string, path: string, body?: object) =>
      portal.send<Body>(method, `${integrations}${path}`, body === undefined ? {} : { body });
    const map = { attempt: { attempt_id: '/attempt_id' }, score: '/run/points' };
    const wanted = { environment: 'test', transport: 'push_webhook', descriptor: { version: 1, map } };
    const { id } = expectStatus(201, await send<{ id: string }>('POST', '', wanted)).body;
    expectStatus(200, await send('PATCH', `/${id}?environment=test`, { status: 'active' }));
    expectStatus(200, await send('POST', `/${id}/rotate-secret?environment=test`));
    expectStatus(200, await send('POST', `/${id}/retire-previous-secret?environment=test`));
    expectStatus(200, await send('GET', '?environment=test'));
    const { transport, descriptor } = wanted;
    const sample = { attempt_id: randomUUID(), run: { points: 58.2 } };
    expectStatus(200, await send('POST', '/dry-run', { transport, descriptor, sample }));
    expectStatus(200, await send('GET', `/${id}/log`));
  }

  /** Reads a challenge, a tournament and an ended round of the developer's program. */
  async function readContests(portal: Developer['portal'], program: Developer['program']) {
    const read = async (path: string) => expectStatus(200, await portal.send('GET', `/programs/${program.id}${path}`));
    const player = await world.newPlayer({ partner: program.test });
    const challenge = await world.newChallenge({}, program);
    const score = async (contest: { challenge_id: string } | { tournament_round_id: string }) => {
      const entry = { ...contest, player_ref: player.ref };
      const { id } = expectStatus(201, await program.test.createAttempt(entry)).body;
      expectStatus(200, await program.test.reportOutcome(id, { score: 50 }));
    };
    await score({ challenge_id: challenge.id });
    await read('/challenges?environment=test');
    await read(`/challenges/${challenge.id}`);
    await read(`/challenges/${challenge.id}/statistics?bins=5`);
    const round = await world.newRound({}, program);
    await score({ tournament_round_id: round.id });
    expectStatus(200, await program.test.closeRound(round.id));
    await read('/tournaments?environment=test');
    await read(`/tournaments/${round.tournament_id}`);
    await read(`/tournaments/${round.tournament_id}/rounds`);
    await read(`/rounds/${round.id}/standings`);
  }

  test('every operator route answers its documented success', async () => {
    const { operator } = world;
    const cookie = expectStatus(201, await operator.signIn()).headers['set-cookie']?.split(';')[0] ?? '';
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    expectStatus(200, await world.http.send('GET', '/api/operator/me', { headers }));
    expectStatus(204, await world.http.send('DELETE', '/api/operator/session', { headers }));
    const credentials = { email: `${randomUUID()}@example.com`, password: `password ${randomUUID()}` };
    const developer = expectStatus(201, await operator.createDeveloper(credentials)).body;
    expectStatus(200, await operator.send('GET', '/developers?limit=2'));
    expectStatus(201, await operator.send('POST', `/developers/${developer.id}/sign-in-link`));
    const program = expectStatus(201, await operator.createProgram('Documented', developer.id)).body;
    expectStatus(200, await operator.approveProgram(program.id));
    expectStatus(200, await operator.replaceLiveKey(program.id));
    expectStatus(200, await operator.updateProgram(program.id, { deletion_scheduled: false }));
    expectStatus(200, await operator.send('GET', `/programs/${program.id}`));
    expectStatus(200, await operator.send('GET', '/programs?limit=2'));
    const limits = `/programs/${program.id}/limits`;
    expectStatus(200, await operator.send('GET', limits));
    expectStatus(200, await operator.send('PATCH', limits, { body: { environment: 'live', payout_limit: '9000.00' } }));

    const person = { date_of_birth: '1990-05-17', jurisdiction: 'US-CA', verification_level: 1 };
    const account = expectStatus(
      201,
      await operator.createAccount({ ...person, email: `${randomUUID()}@example.com` }),
    ).body;
    expectStatus(200, await operator.updateAccount(account.id, { self_excluded_until: inMinutes(60) }));
    expectStatus(200, await operator.send('GET', `/accounts/${account.id}`));
    expectStatus(200, await operator.send('GET', '/accounts?flag=self_excluded&limit=2'));
    const deposit = { environment: 'live', amount: '12.50', reference: randomUUID() };
    expectStatus(201, await operator.deposit(account.id, deposit));
    expectStatus(200, await operator.statement(account.id, 'live'));
    expectStatus(201, await operator.addInsider(program.id, account.id));
    expectStatus(200, await operator.send('GET', `/programs/${program.id}/insiders`));
    expectStatus(204, await operator.send('DELETE', `/programs/${program.id}/insiders/${account.id}`));

    const player = await world.newPlayer();
    expectStatus(200, await operator.playerLinks(player.accountId));
    expectStatus(204, await operator.severPlayerLinks(player.accountId, world.program.id));
    expectStatus(200, await operator.playerLinks(player.accountId));
    expectStatus(204, await operator.liftSeverance(player.accountId, world.program.id));

    const challenge = expectStatus(201, await operator.createChallenge(world.program.id, liveTerms())).body;
    expectStatus(200, await operator.getChallenge(challenge.id));
    expectStatus(200, await operator.getCalibration(challenge.id));
    expectStatus(200, await operator.getDrift(challenge.id));
    expectStatus(200, await operator.send('GET', `/challenges/${challenge.id}/statistics?bins=5`));
    expectStatus(200, await operator.send('GET', `/programs/${world.program.id}/challenges?environment=test&limit=1`));
    const winner = await world.newPlayer();
    const entry = { challenge_id: challenge.id, player_ref: winner.ref };
    const attempt = expectStatus(201, await world.partner.createAttempt(entry)).body;
    expectStatus(200, await operator.voidAttempt(attempt.id, 'a bug'));
    const won = await settle(winner, 100);
    expectStatus(200, await operator.getReceipt(won.receipt_id));
    expectStatus(200, await operator.send('GET', `/attempts/${won.attempt_id}`));
    expectStatus(200, await operator.updateChallenge(challenge.id, { status: 'suspended' }));

    const tournament = expectStatus(201, await operator.createTournament(world.program.id, tournamentTerms())).body;
    const round = expectStatus(201, await operator.openRound(tournament.id, { closes_at: inMinutes(60) })).body;
    const entered = await world.playRound(round.id, winner, 5);
    expectStatus(200, await world.partner.closeRound(round.id));
    expect(expectStatus(200, await operator.getReceipt(entered.receipt_id)).body).toHaveProperty('seal');
    expectStatus(200, await operator.send('GET', `/rounds/${round.id}`));
    expectStatus(200, await operator.send('GET', `/rounds/${round.id}/standings`));
    expectStatus(200, await operator.send('GET', `/tournaments/${tournament.id}`));
    expectStatus(200, await operator.send('GET', `/tournaments/${tournament.id}/rounds`));
    expectStatus(200, await operator.send('GET', `/programs/${world.program.id}/tournaments?environment=test&limit=1`));
    const unplayed = expectStatus(201, await operator.openRound(tournament.id, { closes_at: inMinutes(60) })).body;
    expectStatus(200, await operator.cancelRound(unplayed.id, 'The game server counted every score twice.'));
    expectStatus(200, await operator.updateTournament(tournament.id, { status: 'paused' }));

    const today = new Date().toISOString().slice(0, 10);
    const money = () =>
      operator.send<{ data: unknown[] }>('GET', `/money?from=${today}&to=${today}&program_id=${world.program.id}`);
    const COUNTED_MS = 30_000;
    await expect.poll(async () => (await money()).body.data.length, { timeout: COUNTED_MS }).toBeGreaterThan(0);

    const [released, denied] = [await hold(), await hold()];
    expectStatus(200, await operator.listPayouts('held'));
    expectStatus(200, await operator.releasePayout(released));
    expectStatus(200, await operator.getPayout(released));
    expectStatus(200, await operator.denyPayout(denied));
    expectStatus(200, await operator.audit());
    expectStatus(200, await operator.send('GET', '/actions?limit=50'));
    expectStatus(200, await operator.send('GET', `/attempts?account_id=${winner.accountId}&limit=2`));
    expectStatus(200, await operator.send('GET', `/search?q=${won.receipt_id}`));
    expect(missing('/api/operator')).toEqual([]);
  });

  test('every portal route answers its documented success', async () => {
    const developer: Developer = await world.newDeveloper();
    const { portal, program } = developer;
    const { id: developerId } = expectStatus(200, await portal.send<{ id: string }>('GET', '/me')).body;
    const link = await world.operator.send<{ token: string }>('POST', `/developers/${developerId}/sign-in-link`);
    const { token } = expectStatus(201, link).body;
    expectStatus(201, await world.http.send('POST', '/api/portal/session/link', { body: { token } }));
    expectStatus(200, await portal.listPrograms());
    expectStatus(200, await portal.send('GET', `/programs/${program.id}`));
    expectStatus(200, await portal.send('GET', `/programs/${program.id}/overview?environment=test`));
    expectStatus(200, await portal.send('GET', '/webhook-events'));
    const attempts = `/programs/${program.id}/attempts`;
    const player = await world.newPlayer({ partner: program.test });
    const { id: challenge_id } = await world.newChallenge({}, program);
    const entry = { challenge_id, player_ref: player.ref };
    const attempt = expectStatus(201, await program.test.createAttempt(entry)).body;
    expectStatus(200, await program.test.reportOutcome(attempt.id, { score: 100 }));
    expectStatus(200, await portal.send('GET', `${attempts}?environment=test&limit=2`));
    expectStatus(200, await portal.send('GET', `${attempts}/${attempt.id}`));
    expectStatus(200, await portal.send('GET', `${attempts}/${attempt.id}/receipt`));
    const created = await portal.createEndpoint({ url: 'https://127.0.0.1:9443/', description: 'mine' });
    const { id } = expectStatus(201, created).body;
    expectStatus(200, await portal.listEndpoints());
    expectStatus(200, await portal.getEndpoint(id));
    expectStatus(200, await portal.updateEndpoint(id, { description: 'still mine' }));
    expectStatus(200, await portal.rotateSecret(id));
    const { delivery_id } = expectStatus(202, await portal.sendTest(id)).body;
    expectStatus(202, await portal.resend(delivery_id));
    expectStatus(200, await portal.getDelivery(delivery_id));
    expectStatus(200, await portal.listDeliveries(id));
    expectStatus(200, await portal.getStats(id));
    const failed = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' };
    expectStatus(202, await portal.resendFailed(id, failed));
    expectStatus(204, await portal.deleteEndpoint(id));
    const made = await createIntegrations(program.test).create({ transport: 'push_webhook' });
    expectStatus(200, await portal.send('GET', `/integrations/${expectStatus(201, made).body.id}/log`));
    const dryRun = { transport: 'push_webhook', descriptor: {}, sample: [{ attempt_id: randomUUID(), score: 58.2 }] };
    expectStatus(200, await portal.send('POST', '/integrations/dry-run', { body: dryRun }));
    await setUpIntegration(developer);
    const requests = `/programs/${program.id}/requests`;
    const logged = () => portal.send('GET', `${requests}/${made.headers['x-request-id']}`);
    // The log is written after the response to the logged request.
    while ((await logged()).status === 404);
    expectStatus(200, await logged());
    expectStatus(200, await portal.send('GET', `${requests}?environment=test`));
    await playInSandbox(developer);
    await readContests(portal, program);
    expectStatus(200, await portal.replaceTestKey(program.id));
    expectStatus(204, await portal.signOut());
    expect(missing('/api/portal')).toEqual([]);
  });

  test('every sandbox route answers its documented success', async () => {
    const developer = await world.newDeveloper();
    const partner = developer.program.test;
    const hook = await world.newReceiver(developer, { answer: { status: 500, body: 'not now' } });
    const player = await world.newPlayer({ partner });
    expectStatus(201, await partner.createPlayer(player.ref, '1.00', { verification_level: 1 }));
    expectStatus(204, await partner.holdNextAward(player.ref));
    const challenge = await world.newChallenge({}, developer.program);
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const { id } = expectStatus(201, await partner.createAttempt(entry)).body;
    expectStatus(200, await partner.expireAttempt(id));
    const { deliveryId } = await hook.event('attempt.refunded', id);
    await hook.delivery(deliveryId, ({ attempts }) => attempts[0]?.http_status === 500);
    expectStatus(202, await partner.retryNow(deliveryId));
    expectStatus(200, await partner.call(({ sandbox }) => sandbox.listEvents({ from: 'oldest' })));
    const round = await world.newRound({}, developer.program);
    expectStatus(200, await partner.closeEntries(round.id));
    expectStatus(200, await partner.closeRound(round.id));
    expectError(409, 'attempt_already_settled', await partner.expireAttempt(id));
    expect(missing('/api/sandbox')).toEqual([]);
  });

  test('the examples of the document are recorded requests and responses of the routes', () => {
    const document = parse(readFileSync(new URL('../../docs/openapi/portal-api.yaml', import.meta.url), 'utf8'));
    const examples = recordExamples(world.http.journal, document);
    // `LAUREL_RECORD_EXAMPLES=1` writes them again; then `npm run openapi`.
    if (process.env.LAUREL_RECORD_EXAMPLES) writeFileSync(RECORDED, `${JSON.stringify(examples, null, 2)}\n`);
    expect(differences(JSON.parse(readFileSync(RECORDED, 'utf8')), examples)).toEqual([]);
  });
});
