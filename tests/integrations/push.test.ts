/**
 * Pushed outcomes through the whole path, with the real contest services: what settles, once, and
 * what a developer sees of it. services/integration tests what a signature proves and how a record
 * finds its attempt.
 */
import { randomUUID } from 'node:crypto';
import { type PushResults, signIntegrationBody } from '@laurel/sdk';
import {
  type Answer,
  type ChallengeTerms,
  countsOf,
  createIntegrations,
  type LogEntryBody,
  push,
} from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Developer,
  eventually,
  expectError,
  expectStatus,
  fullBoard,
  joinWorld,
  type Player,
  type Program,
  type SharedWorld,
  WITH_TIEBREAK,
} from '../world.ts';
import { newTarget, type Target } from './target.ts';

let world: SharedWorld;
let developer: Developer;
let program: Program;
let target: Target;
beforeAll(async () => {
  world = await joinWorld();
  developer = await world.newDeveloper();
  program = developer.program;
  target = await newTarget(program.test);
});
afterAll(() => world?.[Symbol.asyncDispose]());

async function newAttempt(terms: ChallengeTerms = {}, player?: Player) {
  const challenge = await world.newChallenge(terms, program);
  const own = player ?? (await world.newPlayer({ partner: program.test }));
  const entry = { challenge_id: challenge.id, player_ref: own.ref };
  const { id } = expectStatus(201, await program.test.createAttempt(entry)).body;
  return { id, player: own, challenge };
}

const results = (answer: Answer<PushResults>) =>
  expectStatus(200, answer).body.results.map(({ status, code }) => code ?? status);

describe('a pushed record', () => {
  test('a pushed win is answered like a report by /v1 and paid before the response', async () => {
    const { id, player } = await newAttempt({ prize: '7.25' });
    const report = { attempt_id: id, score: 120.5, evidence: { replay: 'r' } };
    const { award, ...outcome } = expectStatus(200, await push(world.http, target, report)).body;
    const byV1 = await newAttempt({ prize: '7.25' });
    const reported = expectStatus(200, await program.test.reportOutcome(byV1.id, { score: 100 })).body;
    expect(Object.keys({ ...outcome, award }).sort()).toEqual(Object.keys(reported).sort());
    expect(outcome).toMatchObject({ score: 120.5, met_threshold: true, threshold_applied: 100 });
    expect(award).toMatchObject({ amount: '7.25', payout_status: 'paid' });
    expect(await world.balance(player)).toBe('106.25');
    const attempt = expectStatus(200, await program.test.getAttempt(id)).body;
    expect(attempt).toMatchObject({ status: 'settled', outcome });
    expect(attempt.outcome?.award).toMatchObject({ id: award?.id, paid_at: award?.paid_at });
  });

  test('one report that arrives many times concurrently settles once', async () => {
    const [{ id, player }, other] = [await newAttempt(), await newTarget(program.test)];
    const record = { attempt_id: id, score: 200 };
    const bodies = [record, [record], [record, record], [{ attempt_id: randomUUID(), score: 1 }, record]];
    const sends = [target, other].flatMap((to) => bodies.flatMap((body) => Array(5).fill([to, body])));
    const answers = await Promise.all(
      sends.map(([to, body]) => push<PushResults & { receipt_id?: string }>(world.http, to, body)),
    );
    const alone = answers.filter(({ body }) => body.results === undefined);
    expect(new Set(alone.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const counts = countsOf(answers.filter((answer) => !alone.includes(answer)).flatMap(results));
    expect(alone).toHaveLength(10);
    expect(counts.not_found).toBe(10);
    expect((counts.settled ?? 0) + (counts.duplicate ?? 0)).toBe(40);
    expect(counts.settled ?? 0).toBeLessThanOrEqual(1);
    const again = await push(world.http, target, ` { "score": 200.0, "attempt_id": "${id}" } `);
    expect([again.status, again.text]).toEqual([200, alone[0]?.text]);
    expectError(409, 'attempt_already_settled', await push(world.http, target, { attempt_id: id, score: 101 }));
    expect(await world.balance(player)).toBe('104.00');
  });

  test('a round with a tiebreak refuses a pushed score without a tiebreak', async () => {
    const round = await world.newRound(WITH_TIEBREAK, program);
    const player = await world.newPlayer({ partner: program.test });
    const entry = { tournament_round_id: round.id, player_ref: player.ref };
    const { id } = expectStatus(201, await program.test.createAttempt(entry)).body;
    expectError(422, 'tiebreak_required', await push(world.http, target, { attempt_id: id, score: 3 }));
    const settled = expectStatus(200, await push(world.http, target, { attempt_id: id, score: 3, tiebreak: 41 })).body;
    expect(settled).toMatchObject({ attempt_id: id, score: 3, met_threshold: false, award: null });
    const board = fullBoard(await program.test.getLeaderboard(round.id, player.ref));
    expect(board.data[0]).toMatchObject({ player_ref: player.ref, best_score: 3, best_tiebreak: 41 });
  });

  test('an attempt of another program or of the other environment is 404', async () => {
    const elsewhere = await world.newProgram();
    const challenge = await world.newChallenge({}, elsewhere);
    const player = await world.newPlayer({ partner: elsewhere.test });
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const { id } = expectStatus(201, await elsewhere.test.createAttempt(entry)).body;
    expectError(404, 'not_found', await push(world.http, target, { attempt_id: id, score: 100 }));
    const ofLive = await newTarget(program.live);
    const own = await newAttempt();
    expectError(404, 'not_found', await push(world.http, ofLive, { attempt_id: own.id, score: 100 }));
    expect(expectStatus(200, await elsewhere.test.getAttempt(id)).body.status).toBe('open');
    expect(expectStatus(200, await program.test.getAttempt(own.id)).body.status).toBe('open');
  });
});

describe('a pushed batch', () => {
  test('a pushed batch returns the result of each record in order', async () => {
    const [one, two] = [await newAttempt(), await newAttempt()];
    const body = [
      { attempt_id: one.id, score: 1 },
      { attempt_id: randomUUID(), score: 1 },
      { attempt_id: two.id },
      { attempt_id: two.id, score: 2 },
      { attempt_id: one.id, score: 9 },
    ];
    const answer = await push<PushResults>(world.http, target, body);
    expect(results(answer)).toEqual(['settled', 'not_found', 'invalid_request', 'settled', 'attempt_already_settled']);
    expect(answer.body.results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(answer.body.results[0]?.attempt_id).toBe(one.id);
    const again = await push<PushResults>(world.http, target, body);
    expect(results(again)).toEqual([
      'duplicate',
      'not_found',
      'invalid_request',
      'duplicate',
      'attempt_already_settled',
    ]);
  });

  test('a report body that is sent twice never settles the player’s next attempt', async () => {
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    const byPlayer = await newTarget(program.test, {
      descriptor: {
        version: 1,
        map: {
          attempt: { player_ref: '/player', challenge_id: { const: challenge.id }, pick: 'only' },
          score: '/score',
          dedupe: '/id',
        },
      },
    });
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const first = expectStatus(201, await program.test.createAttempt(entry)).body;
    const captured = { id: randomUUID(), player: player.ref, score: 1 };
    const settled = expectStatus(200, await push(world.http, byPlayer, captured));
    expect(settled.body.attempt_id).toBe(first.id);
    const next = expectStatus(201, await program.test.createAttempt(entry)).body;
    const replayed = await push(world.http, byPlayer, captured);
    expect([replayed.status, replayed.text]).toEqual([200, settled.text]);
    const other = await push(world.http, byPlayer, { ...captured, score: 2 });
    expectError(409, 'attempt_already_settled', other);
    const database = world.stack.database('integration');
    await database.query('delete from report_attempts where integration_id = $1', [byPlayer.id]);
    expectError(409, 'attempt_already_settled', await push(world.http, byPlayer, captured));
    expect(expectStatus(200, await program.test.getAttempt(next.id)).body.status).toBe('open');
  });
});

describe('the signature of a push', () => {
  test('a push without a valid signature is 401 and settles nothing', async () => {
    const own = await newTarget(program.test);
    const { id: attemptId } = await newAttempt();
    const report = { attempt_id: attemptId, score: 100 };
    const integrations = createIntegrations(program.test);
    const { signing_secret: secret } = expectStatus(200, await integrations.rotateSecret(own.id)).body;
    expectError(404, 'not_found', await push(world.http, own, { attempt_id: randomUUID(), score: 1 }));
    expectStatus(200, await integrations.retirePreviousSecret(own.id));
    const unsigned = { 'x-service-signature': await signIntegrationBody('another body', secret) };
    const refusals = [
      await push(world.http, { ...own, id: randomUUID() }, report),
      await push(world.http, { ...own, id: 'nonsense' }, report),
      await push(world.http, own, report),
      await push(world.http, own, report, unsigned),
    ];
    for (const refusal of refusals) {
      expectError(401, 'unauthorized', refusal);
      expect(refusal.text).toBe(refusals[0]?.text);
    }
    expect(expectStatus(200, await program.test.getAttempt(attemptId)).body.status).toBe('open');
    expectStatus(200, await push(world.http, { id: own.id, secret }, report));
  });

  test('a signed push to an inactive integration or a suspended program is 404 and settles nothing', async () => {
    const owned = await world.newProgram({ id: developer.id });
    const own = await newTarget(owned.test);
    const challenge = await world.newChallenge({}, owned);
    const player = await world.newPlayer({ partner: owned.test });
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const { id } = expectStatus(201, await owned.test.createAttempt(entry)).body;
    const report = { attempt_id: id, score: 100 };
    const integrations = createIntegrations(owned.test);
    for (const status of ['suspended', 'draft'] as const) {
      expectStatus(200, await integrations.update(own.id, { status }));
      expectError(404, 'not_found', await push(world.http, own, report));
    }
    expectStatus(200, await integrations.update(own.id, { status: 'active' }));
    for (const change of [{ status: 'suspended' }, { status: 'approved', deletion_scheduled: true }]) {
      expectStatus(200, await world.operator.updateProgram(owned.id, change));
      expectError(404, 'not_found', await push(world.http, own, report));
    }
    expectStatus(200, await world.operator.updateProgram(owned.id, { deletion_scheduled: false }));
    expect(await world.balance(player)).toBe('99.00');
    expectStatus(200, await push(world.http, own, report));
  });
});

describe('what a developer sees of pushes', () => {
  const logOf = async (portal: Developer['portal'], id: string, query = '') =>
    portal.send<{ data: LogEntryBody[]; next_cursor: string | null }>('GET', `/integrations/${id}/log${query}`);

  test('the log shows each signed push with the results of its records', async () => {
    const own = await newTarget(program.test);
    const { id } = await newAttempt();
    const missing = randomUUID();
    await push(world.http, own, { attempt_id: id, score: 1 });
    await push(world.http, own, { attempt_id: id, score: 1 }, { 'x-service-signature': 'sha256=wrong' });
    await push(world.http, own, '{');
    await push(world.http, own, [{ attempt_id: missing, score: 1 }]);
    const entries = await eventually(async () => {
      const { data } = expectStatus(200, await logOf(developer.portal, own.id)).body;
      return data.length === 3 ? data : undefined;
    }, 'the log shows three pushes');
    expect(entries.map(({ kind, body_excerpt, error }) => [kind, body_excerpt, error])).toEqual([
      ['push', JSON.stringify([{ attempt_id: missing, score: 1 }]), null],
      ['push', '{', 'invalid_request'],
      ['push', JSON.stringify({ attempt_id: id, score: 1 }), null],
    ]);
    const rejected = { index: 0, attempt_id: missing, status: 'rejected', code: 'not_found' };
    expect(entries[0]?.records).toMatchObject([rejected]);
    expect(entries[2]?.records).toEqual([{ index: 0, attempt_id: id, status: 'settled', code: null, message: null }]);
    const page = expectStatus(200, await logOf(developer.portal, own.id, '?limit=2')).body;
    expect(page.data).toEqual(entries.slice(0, 2));
    const cursor = encodeURIComponent(page.next_cursor ?? '');
    const rest = expectStatus(200, await logOf(developer.portal, own.id, `?limit=2&cursor=${cursor}`)).body;
    expect(rest).toEqual({ data: entries.slice(2), next_cursor: null });
  });

  test('a dry run settles nothing', async () => {
    const { id } = await newAttempt();
    const body = { transport: 'push_webhook', descriptor: {}, sample: [{ attempt_id: id, score: 1 }, { score: 1 }] };
    const answer = await developer.portal.send<{ records: object[] }>('POST', '/integrations/dry-run', { body });
    expect(expectStatus(200, answer).body).toMatchObject({
      records: [
        { index: 0, status: 'read', read: { score: 1 }, failure: null },
        { index: 1, status: 'failed', read: null, failure: { pointer: '/attempt_id' } },
      ],
      records_failure: null,
      next_page: null,
    });
    expect(expectStatus(200, await program.test.getAttempt(id)).body.status).toBe('open');
  });
});

test('the audit finds no violation after pushes', () => world.expectAuditOk());
