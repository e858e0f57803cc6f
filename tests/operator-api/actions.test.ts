import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { type Answer, createOperator, type SendOptions } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, startWorld, type World } from '../world.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ALICE = randomBytes(24).toString('base64url');

interface Action {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string | null;
  readonly request: unknown;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly outcome: 'done' | 'refused' | 'unknown';
  readonly status: number | null;
  readonly request_id: string;
}

describe('the log of operator actions', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      failpoints: true,
      restart: true,
      environment: { gateway: { OPERATOR_TOKENS: `alice:${ALICE}` } },
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const read = async (query = '') =>
    expectStatus(
      200,
      await world.operator.send<{ data: Action[]; next_cursor: string | null }>('GET', `/actions${query}`),
    ).body;
  const newest = async (): Promise<Action> => (await read('?limit=1')).data[0] ?? expect.fail('there is no action');
  const requestIdOf = (answer: Answer<unknown>) => answer.headers['x-request-id'];
  /** Every row of the log, as text. */
  const stored = async () =>
    JSON.stringify(
      await world.stack
        .database('gateway')
        .query(
          'select a::text as action, r::text as result from operator_actions a left join operator_action_results r on r.action_id = a.id',
        ),
    );

  describe('entries of the log of operator actions', () => {
    test('the action log records the actor, the subject and the request of a change', async () => {
      const { id } = await world.newProgram();
      const answer = await world.operator.updateProgram(id, { status: 'suspended' });
      const changed = expectStatus(200, answer).body;
      expect(await newest()).toEqual({
        id: expect.stringMatching(UUID),
        at: expect.stringMatching(INSTANT),
        actor: 'operator',
        action: 'change_program',
        subject: `program:${id}`,
        request: { path: { programId: id }, body: { status: 'suspended' } },
        before: { ...changed, status: 'approved' },
        after: changed,
        outcome: 'done',
        status: 200,
        request_id: requestIdOf(answer),
      });
    });

    test('the action log names the operator by the name of the operator’s token', async () => {
      const alice = createOperator(world.http, ALICE);
      const { id } = expectStatus(201, await alice.createProgram('Hers')).body;
      expect(await newest()).toMatchObject({
        actor: 'alice',
        action: 'create_program',
        subject: `program:${id}`,
        before: null,
        after: { id, name: 'Hers', status: 'draft' },
        status: 201,
      });
    });

    test('the action log records changes in other services', async () => {
      const player = await world.newPlayer({ funds: '0.00' });
      const account = `account:${player.accountId}`;
      expectStatus(200, await world.operator.updateAccount(player.accountId, { blocked: true }));
      expect(await newest()).toMatchObject({
        subject: account,
        before: { email: player.email, blocked: false },
        after: { email: player.email, blocked: true },
      });
      const deposit = { environment: 'test', amount: '12.50', reference: randomUUID() };
      expectStatus(201, await world.operator.deposit(player.accountId, deposit));
      expect(await newest()).toMatchObject({
        action: 'deposit',
        subject: account,
        request: { body: deposit },
        before: { balance: '0.00' },
        after: { balance: '12.50' },
      });
      const challenge = await world.newChallenge();
      expect(await newest()).toMatchObject({ subject: `challenge:${challenge.id}`, before: null, after: challenge });
      expectStatus(200, await world.operator.updateChallenge(challenge.id, { status: 'suspended' }));
      expect(await newest()).toMatchObject({
        subject: `challenge:${challenge.id}`,
        before: { status: 'live' },
        after: { status: 'suspended' },
      });
    });

    test('the action log records a refused change with the subject’s current state', async () => {
      const player = await world.newPlayer();
      const [challenge, round] = [await world.newChallenge(), await world.newRound()];
      for (const parent of [{ challenge_id: challenge.id }, { tournament_round_id: round.id }]) {
        const entry = { ...parent, player_ref: player.ref };
        const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
        const { outcome } = expectStatus(
          200,
          await world.partner.reportOutcome(id, { score: 1 }).then(() => world.partner.getAttempt(id)),
        ).body;
        expectError(409, 'conflict', await world.operator.voidAttempt(id, 'too late'));
        expect(await newest()).toMatchObject({
          action: 'void_attempt',
          subject: `attempt:${id}`,
          before: { id, status: 'settled', outcome },
          after: null,
          outcome: 'refused',
          status: 409,
        });
      }
      const { id } = await world.newTournament();
      expectStatus(200, await world.operator.updateTournament(id, { status: 'closed' }));
      expectError(409, 'conflict', await world.operator.updateTournament(id, { status: 'active' }));
      expect(await newest()).toMatchObject({ subject: `tournament:${id}`, before: { status: 'closed' }, status: 409 });
    });

    test('the action log records no reads', async () => {
      const [draft, unknown] = [expectStatus(201, await world.operator.createProgram('Draft')).body.id, randomUUID()];
      const refused = [
        await world.operator.replaceLiveKey(draft),
        await world.operator.updateProgram(unknown, { status: 'closed' }),
        await world.operator.updateProgram('nonsense', { status: 'closed' }),
        await world.operator.createAccount({ email: 'not-an-email' }),
        await world.operator.send('POST', '/programs', { raw: '{' }),
      ];
      expectStatus(200, await world.operator.send('GET', `/programs/${draft}`));
      expectError(404, 'not_found', await world.operator.send('POST', '/no-such-path', { body: {} }));
      const { data } = await read('?limit=5');
      expect(data.toReversed()).toMatchObject([
        { action: 'replace_live_key', subject: `program:${draft}`, outcome: 'refused', status: 409 },
        { action: 'change_program', subject: `program:${unknown}`, before: null, outcome: 'refused', status: 404 },
        { action: 'change_program', subject: null, outcome: 'refused', status: 404 },
        { action: 'create_account', subject: null, request: { body: { email: 'not-an-email' } }, status: 400 },
        { action: 'create_program', request: { path: {} }, after: null, status: 400 },
      ]);
      expect(data.toReversed().map(({ request_id: id }) => id)).toEqual(refused.map(requestIdOf));
    });

    test('the action log contains no secret, even under a misspelt name', async () => {
      const program = await world.newProgram();
      const { live_key: liveKey } = expectStatus(200, await world.operator.replaceLiveKey(program.id)).body;
      expect(await newest()).toMatchObject({
        before: { keys: [{ environment: 'test' }, { last4: program.live.apiKey.slice(-4) }] },
        after: { keys: [{ environment: 'test' }, { last4: liveKey.slice(-4) }] },
      });
      const email = `${randomUUID()}@example.com`;
      const passwords = [`password ${randomUUID()}`, `pasword ${randomUUID()}`];
      const [password, pasword] = passwords;
      await world.operator.send('POST', '/developers', { body: { email, pasword } });
      expectStatus(201, await world.operator.send('POST', '/developers', { body: { email, password, pasword } }));
      expect(await newest()).toMatchObject({
        action: 'create_developer',
        request: { body: { email } },
        after: { email },
      });
      const log = await stored();
      for (const secret of [liveKey, program.live.apiKey, program.test.apiKey, ...passwords, ALICE]) {
        expect(log).not.toContain(secret);
      }
    });

    test('the action log is listed newest first, page by page', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        ids.unshift(expectStatus(201, await world.operator.createProgram(`Page ${index}`)).body.id);
      }
      const seen: (string | null)[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof read>> = await read(
          `?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        seen.push(...page.data.map(({ subject }) => subject));
        cursor = page.next_cursor;
      } while (cursor !== null && seen.length < 5);
      expect(seen.slice(0, 5)).toEqual(ids.map((id) => `program:${id}`));
      const impossible = Buffer.from(JSON.stringify(['2026-02-30T00:00:00.000Z', randomUUID()])).toString('base64url');
      for (const query of ['cursor=nonsense', `cursor=${impossible}`, 'limit=0', 'limit=201']) {
        expectError(400, 'invalid_request', await world.operator.send('GET', `/actions?${query}`));
      }
    });

    test('the action log can be filtered by operator, action and subject, page by page', async () => {
      const alice = createOperator(world.http, ALICE);
      const { id } = await world.newProgram();
      const { id: another } = await world.newProgram();
      const statuses = ['suspended', 'approved', 'suspended', 'approved', 'closed'];
      for (const [index, status] of statuses.entries()) {
        expectStatus(200, await (index % 2 === 0 ? alice : world.operator).updateProgram(id, { status }));
        expectStatus(200, await world.operator.updateProgram(another, { status }));
      }
      const of = async (filters: Record<string, string>, limit = 2) => {
        const seen: Action[] = [];
        let cursor: string | null = null;
        do {
          const query = new URLSearchParams({ ...filters, limit: String(limit), ...(cursor !== null && { cursor }) });
          const page: Awaited<ReturnType<typeof read>> = await read(`?${query}`);
          seen.push(...page.data);
          cursor = page.next_cursor;
        } while (cursor !== null);
        return seen.toReversed().map(({ action, actor, after }) => [action, actor, after?.status]);
      };
      const subject = `program:${id}`;
      const changes = statuses.map((status, index) => [
        'change_program',
        index % 2 === 0 ? 'alice' : 'operator',
        status,
      ]);
      const made = [
        ['create_program', 'operator', 'draft'],
        ['approve_program', 'operator', 'approved'],
      ];
      // These entries include the action that created the program.
      expect(await of({ subject })).toEqual([...made, ...changes]);
      expect(await of({ subject, action: 'change_program' })).toEqual(changes);
      const hers = changes.filter(([, actor]) => actor === 'alice');
      expect(await of({ subject, action: 'change_program', actor: 'alice' }, 1)).toEqual(hers);
      expect((await of({ actor: 'alice' })).slice(-hers.length)).toEqual(hers);
      expect((await of({ actor: 'alice' })).every(([, actor]) => actor === 'alice')).toBe(true);
      for (const nothing of [
        { subject: id },
        { subject, actor: 'ALICE' },
        { subject, action: 'change' },
        { action: '%' },
      ]) {
        expect(await of(nothing)).toEqual([]);
      }
      const long = 'x'.repeat(65);
      for (const query of [
        'action=',
        'subject=',
        'actor=',
        `action=${long}`,
        `actor=${long}`,
        'actor=a&actor=b',
        'subject=%00',
      ]) {
        expectError(400, 'invalid_request', await world.operator.send('GET', `/actions?${query}`));
      }
    });

    test('the database rejects updates and deletes of the action log', async () => {
      const { query } = world.stack.database('gateway');
      for (const table of ['operator_actions', 'operator_action_results']) {
        for (const change of [`update ${table} set at = now()`, `delete from ${table}`, `truncate ${table} cascade`]) {
          await expect(query(change)).rejects.toThrow('is append-only');
        }
      }
    });
  });

  describe('operator actions when the gateway dies', () => {
    const suspend = async (failpoint: string) => {
      await world.stack.ready();
      const { id } = await world.newProgram();
      world.stack.arm(failpoint, 'kill');
      // There is no response at all.
      expect((await world.operator.updateProgram(id, { status: 'suspended' })).status).toBe(0);
      await world.stack.ready();
      const { body } = await world.operator.send<{ status: string }>('GET', `/programs/${id}`);
      const { data } = await read('?limit=1');
      const action = data.find(({ subject, action: name }) => subject === `program:${id}` && name === 'change_program');
      return [body.status, action?.outcome, action?.before?.status, action?.after?.status];
    };

    test('a gateway that dies before an action is logged has changed nothing', async () => {
      expect(await suspend('gateway.action.before-intent')).toEqual(['approved', undefined, undefined, undefined]);
    });

    test('a gateway that dies before the effect of an action leaves the outcome of the action unknown', async () => {
      expect(await suspend('gateway.action.after-intent')).toEqual(['approved', 'unknown', 'approved', undefined]);
    });

    test('a gateway that dies after the effect of an action leaves the outcome of the action unknown', async () => {
      expect(await suspend('gateway.action.before-result')).toEqual(['suspended', 'unknown', 'approved', undefined]);
    });

    test('a gateway that dies after the result of an action is logged leaves a complete entry', async () => {
      expect(await suspend('gateway.action.after-result')).toEqual(['suspended', 'done', 'approved', 'suspended']);
    });
  });

  test('an action that cannot be logged beforehand has no effect', async () => {
    const { id } = await world.newProgram();
    const { query } = world.stack.database('gateway');
    const without = async <T>(table: string, work: () => Promise<T>): Promise<T> => {
      await query(`alter table ${table} rename to ${table}_away`);
      try {
        return await work();
      } finally {
        await query(`alter table ${table}_away rename to ${table}`);
      }
    };
    const set = (status: string) => () => world.operator.updateProgram(id, { status });
    expectError(500, 'internal_error', await without('operator_actions', set('closed')));
    expectStatus(200, await without('operator_action_results', set('suspended')));
    expect(await newest()).toMatchObject({
      subject: `program:${id}`,
      before: { status: 'approved' },
      after: null,
      outcome: 'unknown',
      status: null,
    });
  });

  describe('the throttle of wrong operator tokens', () => {
    const from = (localAddress: string, token: string, options: SendOptions = {}): Promise<Answer<unknown>['status']> =>
      new Promise((resolve, reject) => {
        const sent = request(`${world.stack.baseUrl}/api/operator/programs?limit=1`, {
          localAddress,
          headers: { authorization: `Bearer ${token}`, ...options.headers },
        });
        sent.once('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.once('error', reject);
        sent.end();
      });
    const sendWrongTokens = (address: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => from(address, randomBytes(24).toString('base64url'))));

    test('wrong operator tokens throttle only the operators at the same address', async () => {
      const statuses = await sendWrongTokens('127.0.0.2', 60);
      expect(statuses.filter((status) => status === 401)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(50);
      expect(await from('127.0.0.2', world.stack.operatorToken)).toBe(429);
      expect(await from('127.0.0.3', world.stack.operatorToken)).toBe(200);
    });

    test('wrong operator tokens do not throttle an address from which operators signed in before', async () => {
      expect(await from('127.0.0.4', ALICE)).toBe(200);
      const statuses = await sendWrongTokens('127.0.0.4', 60);
      expect(statuses.filter((status) => status === 401)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(50);
      for (const token of [ALICE, world.stack.operatorToken]) expect(await from('127.0.0.4', token)).toBe(200);
    });
  });
});
