/** Pushed outcomes through the whole path: what is verified, what settles, and that it settles once. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type PushResults, signIntegrationBody } from '@laurel/sdk';
import { type Answer, type ChallengeTerms, createIntegrations, type LogEntryBody, push } from '@laurel/testing';
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
  test('a win settles its attempt as a report by /v1 does: the same body, paid before the answer', async () => {
    const { id, player } = await newAttempt({ prize: '7.25' });
    const answer = expectStatus(
      200,
      await push(world.http, target, { attempt_id: id, score: 100, evidence: { replay: 'r' } }),
    );
    const { award, ...outcome } = answer.body;
    const byV1 = await newAttempt({ prize: '7.25' });
    const reported = expectStatus(200, await program.test.reportOutcome(byV1.id, { score: 100 })).body;
    expect(Object.keys(answer.body)).toEqual(Object.keys(reported));
    expect(award).toMatchObject({ amount: '7.25', payout_status: 'paid' });
    expect(await world.balance(player)).toBe('106.25');
    const attempt = expectStatus(200, await program.test.getAttempt(id)).body;
    expect(attempt).toMatchObject({ status: 'settled', outcome });
  });

  test('the same report again gets its first answer, whatever else its body says; another score is 409', async () => {
    const { id, player } = await newAttempt();
    const first = expectStatus(200, await push(world.http, target, { attempt_id: id, score: 100 }));
    const again = await push(world.http, target, ` { "score": 100.0, "attempt_id": "${id}" } `);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expectError(409, 'attempt_already_settled', await push(world.http, target, { attempt_id: id, score: 101 }));
    expect(await world.balance(player)).toBe('104.00');
  });

  test('twenty concurrent sends of one report settle it once', async () => {
    const { id, player } = await newAttempt();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => push(world.http, target, { attempt_id: id, score: 100 })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expectStatus(200, answers[0] as (typeof answers)[0]);
    expect(await world.balance(player)).toBe('104.00');
  });

  test('a round takes a pushed score with its tiebreak, and is 422 without', async () => {
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

  test('refusals are those of /v1', async () => {
    const { id } = await newAttempt({ score_max: 1_000 });
    expectError(404, 'not_found', await push(world.http, target, { attempt_id: randomUUID(), score: 1 }));
    expectError(422, 'score_out_of_range', await push(world.http, target, { attempt_id: id, score: 1_001 }));
    for (const body of [
      '',
      '{',
      '"x"',
      '{}',
      { attempt_id: id },
      { attempt_id: id, score: 'x' },
      { attempt_id: id, scores: 1 },
    ]) {
      expectError(400, 'invalid_request', await push(world.http, target, body));
    }
    const many = Array.from({ length: 101 }, () => ({ attempt_id: id, score: 1 }));
    expectError(400, 'invalid_request', await push(world.http, target, many));
    const large = { attempt_id: id, score: 1, evidence: { padding: 'x'.repeat(256 * 1024) } };
    expectError(400, 'invalid_request', await push(world.http, target, large));
    const compressed = { 'content-encoding': 'gzip' };
    expectError(400, 'invalid_request', await push(world.http, target, { attempt_id: id, score: 1 }, compressed));
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
  test('each record is answered in its place: settled, duplicate, rejected with its code', async () => {
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

  test('an empty list is 200 without a result, and so is null in its place', async () => {
    for (const body of ['[]', 'null']) {
      expect(expectStatus(200, await push<PushResults>(world.http, target, body)).body).toEqual({ results: [] });
    }
  });

  test('a descriptor reads the words of the game, and leaves out what is not for us', async () => {
    const mapped = await newTarget(program.test, {
      descriptor: {
        version: 1,
        map: {
          records: '/events',
          when: [{ pointer: '/type', in: ['run.finished'] }],
          attempt: { attempt_id: '/run/attempt' },
          score: { pointer: '/run/points', as: 'numeric_string' },
          evidence: { replay: '/run/url' },
        },
      },
    });
    const { id } = await newAttempt();
    const run = { attempt: id, points: '42.5', url: 'https://game.example.com/1' };
    const events = [{ type: 'run.started' }, { type: 'run.finished', run }];
    const answer = await push<PushResults>(world.http, mapped, { events });
    expect(results(answer)).toEqual(['ignored', 'settled']);
    for (const empty of [{ events: [] }, { events: null }, {}]) {
      expect(results(await push<PushResults>(world.http, mapped, empty))).toEqual([]);
    }
    expect(expectStatus(200, await program.test.getAttempt(id)).body.outcome?.score).toBe(42.5);
  });

  test('a player who is named settles their open attempt, and a captured body never the next one', async () => {
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
    expect(expectStatus(200, await program.test.getAttempt(next.id)).body.status).toBe('open');
  });
});

describe('the signature of a push', () => {
  /** Everything of an answer but its request id and its date. */
  const shapeOf = ({ status, text, headers }: { status: number; text: string; headers: object }) => {
    const { 'x-request-id': _id, date: _date, ...others } = headers as Record<string, unknown>;
    return { status, text, headers: others };
  };

  /** With headers that no client joins. */
  async function pushRaw(id: string, body: string, signatures: readonly string[]) {
    const url = new URL(`/webhooks/integrations/${id}/outcome`, world.stack.baseUrl);
    const headers = ['host', url.host, 'content-type', 'application/json', 'content-length', String(body.length)];
    for (const signature of signatures) headers.push('X-Service-Signature', signature);
    const request = httpRequest(url, { method: 'POST', headers, agent: false });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode ?? 0, text, headers: response.headers };
  }

  test('every failure of the signature is one answer, byte for byte, and settles nothing', async () => {
    const { id: attemptId } = await newAttempt();
    const body = JSON.stringify({ attempt_id: attemptId, score: 100 });
    const signature = await signIntegrationBody(body, target.secret);
    const retired = await newTarget(program.test);
    const integrations = createIntegrations(program.test);
    const rotated = expectStatus(200, await integrations.rotateSecret(retired.id)).body;
    expectStatus(200, await integrations.retirePreviousSecret(retired.id));
    const draft = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
    const unsigned = signature.slice('sha256='.length);
    const failures: Record<string, readonly [string, string, readonly string[]]> = {
      missing: [target.id, body, []],
      empty: [target.id, body, ['']],
      doubled: [target.id, body, [signature, signature]],
      'of another scheme': [target.id, body, [`SHA512=${unsigned}`]],
      'without its scheme': [target.id, body, [unsigned]],
      'too long': [target.id, body, [`${signature}0`]],
      'too short': [target.id, body, [signature.slice(0, -1)]],
      'of a re-serialised body': [target.id, JSON.stringify(JSON.parse(body), null, 1), [signature]],
      'of another body': [target.id, body, [await signIntegrationBody(body.replace('100', '101'), target.secret)]],
      'under the decoded secret': [
        target.id,
        body,
        [await signIntegrationBody(body, Buffer.from(target.secret, 'hex').toString('latin1'))],
      ],
      'under a retired secret': [retired.id, body, [await signIntegrationBody(body, retired.secret)]],
      'under the secret of another integration': [retired.id, body, [signature]],
      'to an unknown integration': [randomUUID(), body, [signature]],
      'to no uuid': ['nonsense', body, [signature]],
      'of a draft, missing': [draft.id, body, []],
    };
    const reference = shapeOf(await pushRaw(randomUUID(), '', []));
    expect(reference.status).toBe(401);
    expect(JSON.parse(reference.text).error.code).toBe('unauthorized');
    for (const [name, [id, sent, signatures]] of Object.entries(failures)) {
      expect(shapeOf(await pushRaw(id, sent, signatures)), name).toEqual(reference);
    }
    expect(expectStatus(200, await program.test.getAttempt(attemptId)).body.status).toBe('open');

    expectStatus(200, await push(world.http, { id: retired.id, secret: rotated.signing_secret }, body));
  });

  test('the hexadecimal digits and the scheme of a signature have no case', async () => {
    const report = async (cased: (signature: string) => string) => {
      const body = JSON.stringify({ attempt_id: (await newAttempt()).id, score: 1 });
      return (await pushRaw(target.id, body, [cased(await signIntegrationBody(body, target.secret))])).status;
    };
    const upperHex = (signature: string) => `sha256=${signature.slice('sha256='.length).toUpperCase()}`;
    expect([await report(upperHex), await report((signature) => signature.toUpperCase())]).toEqual([200, 200]);
  });

  test('both secrets verify after a rotation, until the one before is retired', async () => {
    const own = await newTarget(program.test);
    const integrations = createIntegrations(program.test);
    const { signing_secret: next } = expectStatus(200, await integrations.rotateSecret(own.id)).body;
    const report = async (secret: string) => {
      const { id } = await newAttempt();
      return (await push(world.http, { id: own.id, secret }, { attempt_id: id, score: 1 })).status;
    };
    expect([await report(own.secret), await report(next)]).toEqual([200, 200]);
    expectStatus(200, await integrations.retirePreviousSecret(own.id));
    expect([await report(own.secret), await report(next)]).toEqual([401, 200]);
  });

  test('a signed push to an integration that is not active, or whose program is suspended, is 404 and settles nothing', async () => {
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

  test('the log shows each push with what became of its records, newest first, page by page, and no push that was not signed', async () => {
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
    expect(entries[0]?.records).toMatchObject([{ index: 0, status: 'rejected', code: 'not_found' }]);
    expect(entries[2]?.records).toEqual([{ index: 0, attempt_id: id, status: 'settled', code: null, message: null }]);
    const page = expectStatus(200, await logOf(developer.portal, own.id, '?limit=2')).body;
    expect(page.data).toEqual(entries.slice(0, 2));
    const cursor = encodeURIComponent(page.next_cursor ?? '');
    const rest = expectStatus(200, await logOf(developer.portal, own.id, `?limit=2&cursor=${cursor}`)).body;
    expect(rest).toEqual({ data: entries.slice(2), next_cursor: null });
    expectError(400, 'invalid_request', await logOf(developer.portal, own.id, '?cursor=nonsense'));
  });

  test('the log of an integration of another developer is 404', async () => {
    const other = await world.newDeveloper();
    for (const id of [target.id, randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await logOf(other.portal, id));
    }
  });

  test('a dry run shows what would be read, and settles nothing', async () => {
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
    const wrong = { ...body, descriptor: { version: 1, map: { attempt: { attempt_id: '/a' }, score: 'x' } } };
    expectError(400, 'invalid_request', await developer.portal.send('POST', '/integrations/dry-run', { body: wrong }));
  });
});

test('the audit is good after pushes', () => world.expectAuditOk());
