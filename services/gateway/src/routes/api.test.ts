import { randomUUID } from 'node:crypto';
import { newId, newOwnedId } from '@laurel/ids';
import {
  createHttpClient,
  createOperator,
  createPartner,
  type HttpClient,
  type Operator,
  type Stack,
  startStack,
} from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

let stack: Stack;
let http: HttpClient;
let operator: Operator;
const cleanup = new AsyncDisposableStack();

beforeAll(async () => {
  stack = cleanup.use(await startStack({ environment: { gateway: { RATE_LIMIT_PER_MINUTE: String(RATE_LIMIT) } } }));
  http = cleanup.use(createHttpClient({ baseUrl: stack.baseUrl }));
  operator = createOperator(http, stack.operatorToken);
}, 90_000);
afterAll(() => cleanup.disposeAsync(), 30_000);

/** Low, so that exceeding it is quick; no program here sends as many requests to `/v1` in a minute. */
const RATE_LIMIT = 20;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const TERMS = {
  environment: 'test',
  name: 'Sprint',
  fee: '1.00',
  prize: '4.00',
  metric_name: 'score',
  metric_unit: 'points',
  threshold_direction: 'higher_is_better',
  target_pass_rate: 0.2,
  integrity_tier: 1,
  status: 'live',
  threshold: 100,
};
const ACCOUNT = { date_of_birth: '1990-02-28', jurisdiction: 'US-CA', verification_level: 1 };

async function makeProgram() {
  const { body } = await operator.createProgram('Arcade');
  return { id: body.id, partner: createPartner(http, body.test_key), testKey: body.test_key };
}

async function makeAccount(email = `${randomUUID()}@example.com`, fields: object = {}) {
  return (await operator.createAccount({ ...ACCOUNT, email, ...fields })).body;
}

/** A funded sandbox player's won attempt, and the award's id. */
async function winAttempt(program: Awaited<ReturnType<typeof makeProgram>>, playerRef: string) {
  const challenge = (await operator.createChallenge(program.id, TERMS)).body;
  const attempt = (await program.partner.createAttempt({ challenge_id: challenge.id, player_ref: playerRef })).body;
  const outcome = (await program.partner.reportOutcome(attempt.id, { score: 100, evidence: { seed: 7, ratio: 0.1 } }))
    .body;
  return { challenge, attempt, outcome, awardId: String(outcome.award?.id) };
}

describe('authentication of /api/operator', () => {
  test('/api/operator answers 401 to every request without the token', async () => {
    const answers = await Promise.all([
      http.send('GET', '/api/operator/programs'),
      http.send('GET', '/api/operator/programs', { headers: { authorization: 'Bearer wrong' } }),
      http.send('GET', '/api/operator/programs', { headers: { authorization: stack.operatorToken } }),
      http.send('POST', '/api/operator/programs', {
        raw: '{',
        headers: { authorization: `Bearer ${stack.operatorToken}x` },
      }),
      http.send('GET', '/api/operator/no-such-path'),
    ]);
    expect(answers.map(({ status, code }) => [status, code])).toEqual(answers.map(() => [401, 'unauthorized']));
  });

  test('/api/operator answers the 404 envelope to a path that does not exist', async () => {
    expect(await operator.send('GET', '/tournaments')).toMatchObject({ status: 404, code: 'not_found' });
    expect(await http.send('GET', '/api')).toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('developers', () => {
  const password = 'correct horse battery';

  test('a developer is created once per e-mail in any case, with a password that is stored as argon2id', async () => {
    const made = await operator.send<{ id: string }>('POST', '/developers', {
      body: { email: 'Dev@Example.com', password },
    });
    expect(made).toMatchObject({ status: 201, body: { id: expect.stringMatching(UUID), email: 'dev@example.com' } });
    expect(made.text).not.toContain('password');
    expect(await operator.send('POST', '/developers', { body: { email: 'dev@example.com', password } })).toMatchObject({
      status: 409,
      code: 'conflict',
    });
    const rows = await stack
      .database('gateway')
      .query('select password_hash from developers where id = $1', [made.body.id]);
    expect(rows).toEqual([{ password_hash: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/) }]);
  });

  test('a developer with a bad e-mail or password is refused', async () => {
    const email = 'other@example.com';
    for (const body of [
      { email },
      { password },
      { email: 'no-address', password },
      { email: `${'a'.repeat(250)}@example.com`, password },
      { email, password: 'elevenchars' },
      { email, password: 'x'.repeat(129) },
      { email, password: 123456789012 },
      [],
      null,
    ]) {
      expect(await operator.send('POST', '/developers', { body })).toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
    }
  });
});

describe('programs', () => {
  test('a program shows its test key once, and its live key once, at approval', async () => {
    const made = await operator.createProgram('Arcade');
    expect(made.status).toBe(201);
    const { id, test_key: testKey } = made.body;
    expect(made.body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Arcade',
      status: 'draft',
      deletion_scheduled: false,
      created_at: expect.stringMatching(INSTANT),
      test_key: expect.stringMatching(/^sk_test_[0-9A-Za-z]{49}$/),
      keys: [
        {
          environment: 'test',
          prefix: testKey.slice(0, 12),
          last4: testKey.slice(-4),
          created_at: expect.stringMatching(INSTANT),
          last_used_at: null,
        },
      ],
    });

    const approved = await operator.approveProgram(id);
    const { live_key: liveKey, ...program } = approved.body;
    expect(approved).toMatchObject({ status: 200, body: { status: 'approved' } });
    expect(liveKey).toMatch(/^sk_live_[0-9A-Za-z]{49}$/);
    expect(program.keys.map(({ environment, last4 }) => [environment, last4])).toEqual([
      ['test', testKey.slice(-4)],
      ['live', liveKey.slice(-4)],
    ]);
    expect(await operator.approveProgram(id)).toMatchObject({ status: 409, code: 'conflict' });
    expect((await operator.send('GET', `/programs/${id}`)).body).toEqual(program);
    const listed = await operator.send<{ data: object[] }>('GET', '/programs?limit=1');
    expect(listed.body).toMatchObject({ data: [program] });
    expect(listed.text).not.toContain(testKey);
  });

  test('a program loses its keys while suspended, closed or scheduled for deletion', async () => {
    const { id, partner } = await makeProgram();
    const status = async () => (await partner.listChallenges('p')).status;
    expect(await status()).toBe(200);
    for (const change of [
      { status: 'suspended' },
      { status: 'closed' },
      { status: 'approved', deletion_scheduled: true },
    ]) {
      expect(await operator.updateProgram(id, change)).toMatchObject({ status: 200, body: change });
      expect(await status()).toBe(401);
    }
    expect(await operator.updateProgram(id, { deletion_scheduled: false })).toMatchObject({ status: 200 });
    expect(await status()).toBe(200);
  });

  test('an unknown program is 404, and before that a wrong body is 400', async () => {
    for (const id of [newId(), 'not-a-uuid']) {
      expect(await operator.send('GET', `/programs/${id}`)).toMatchObject({ status: 404, code: 'not_found' });
      expect(await operator.approveProgram(id)).toMatchObject({ status: 404, code: 'not_found' });
      expect(await operator.updateProgram(id, { status: 'closed' })).toMatchObject({ status: 404, code: 'not_found' });
      expect(await operator.createChallenge(id, TERMS)).toMatchObject({ status: 404, code: 'not_found' });
      for (const body of [{}, { status: 'draft' }, { status: 'closed', note: 'x' }, { deletion_scheduled: 'no' }]) {
        expect(await operator.updateProgram(id, body)).toMatchObject({ status: 400, code: 'invalid_request' });
      }
    }
    for (const body of [
      {},
      { name: '' },
      { name: 'x'.repeat(256) },
      { name: 'a\0b' },
      { name: 'x', developer_id: '7' },
    ]) {
      expect(await operator.send('POST', '/programs', { body })).toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
    }
    const orphan = { name: 'x', developer_id: newId() };
    expect(await operator.send('POST', '/programs', { body: orphan })).toMatchObject({
      status: 404,
      code: 'not_found',
    });
    for (const query of ['cursor=x', 'limit=0', 'limit=201', 'limit=1&limit=2']) {
      expect(await operator.send('GET', `/programs?${query}`)).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  test('a program takes insiders, of accounts that exist', async () => {
    const { id } = await makeProgram();
    const account = await makeAccount();
    const add = (accountId: string) =>
      operator.send('POST', `/programs/${id}/insiders`, { body: { account_id: accountId } });
    expect(await add(account.id)).toMatchObject({ status: 201, body: { program_id: id, account_id: account.id } });
    expect(await add(account.id)).toMatchObject({ status: 201 });
    expect(await add(newId())).toMatchObject({ status: 404, code: 'not_found' });
    expect(await add('x')).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe('accounts', () => {
  test('an account is opened once per e-mail, and changed field by field', async () => {
    const email = `${randomUUID()}@Example.com`;
    const opened = await operator.createAccount({ ...ACCOUNT, email });
    expect(opened.status).toBe(201);
    expect(opened.body).toEqual({
      ...ACCOUNT,
      id: expect.stringMatching(UUID),
      email: email.toLowerCase(),
      self_excluded_until: null,
      enforcement_flag: false,
      under_investigation: false,
      blocked: false,
      fee_limit: null,
      sandbox_only: false,
      program_id: null,
      created_at: expect.stringMatching(INSTANT),
    });
    expect(await operator.createAccount({ ...ACCOUNT, email })).toMatchObject({ status: 409, code: 'conflict' });

    const excluded = { self_excluded_until: '2030-01-01T00:00:00+01:00', under_investigation: true };
    expect((await operator.updateAccount(opened.body.id, excluded)).body).toEqual({
      ...opened.body,
      self_excluded_until: '2029-12-31T23:00:00.000Z',
      under_investigation: true,
    });
    expect(
      (await operator.updateAccount(opened.body.id, { self_excluded_until: null, verification_level: 3 })).body,
    ).toEqual({
      ...opened.body,
      under_investigation: true,
      verification_level: 3,
    });
    expect(await operator.updateAccount(newId(), { blocked: true })).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('an account with wrong fields is refused', async () => {
    const body = { ...ACCOUNT, email: 'x@example.com' };
    for (const wrong of [
      { email: undefined },
      { date_of_birth: '1990-02-30' },
      { date_of_birth: '28.02.1990' },
      { jurisdiction: 'California' },
      { verification_level: 4 },
      { verification_level: '1' },
    ]) {
      expect(await operator.createAccount({ ...body, ...wrong })).toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
    }
    const { id } = await makeAccount();
    for (const wrong of [{}, { blocked: 'yes' }, { self_excluded_until: 'soon' }, { enforcement_flags: true }]) {
      expect(await operator.updateAccount(id, wrong)).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  test('an account takes a deposit once per reference, and lists every line newest first, page by page', async () => {
    const { id } = await makeAccount(undefined, { program_id: (await makeProgram()).id });
    const deposit = (amount: string, reference: string, environment = 'test') =>
      operator.deposit(id, { environment, amount, reference });
    expect(await deposit('50.00', 'a')).toMatchObject({ status: 201, body: { balance: '50.00' } });
    expect(await deposit('50.00', 'a')).toMatchObject({ status: 201, body: { balance: '50.00' } });
    expect(await deposit('51.00', 'a')).toMatchObject({ status: 409, code: 'conflict' });
    expect(await deposit('0.01', 'b')).toMatchObject({ status: 201, body: { balance: '50.01' } });
    expect(await deposit('7.00', 'a', 'live')).toMatchObject({ status: 404, code: 'not_found' });

    const first = await operator.send<{ next_cursor: string }>(
      'GET',
      `/accounts/${id}/statement?environment=test&limit=1`,
    );
    const line = { id: expect.stringMatching(UUID), kind: 'deposit', created_at: expect.stringMatching(INSTANT) };
    expect(first.body).toEqual({
      balance: '50.01',
      data: [{ ...line, amount: '0.01', balance_after: '50.01', reference: 'b' }],
      next_cursor: expect.any(String),
    });
    const rest = `/accounts/${id}/statement?environment=test&cursor=${encodeURIComponent(first.body.next_cursor)}`;
    expect((await operator.send('GET', rest)).body).toEqual({
      balance: '50.01',
      data: [{ ...line, amount: '50.00', balance_after: '50.00', reference: 'a' }],
      next_cursor: null,
    });

    for (const query of [
      '',
      'environment=prod',
      'environment=test&limit=x',
      'environment=test&cursor=%00',
      'environment=test&cursor=x',
    ]) {
      const answer = await operator.send('GET', `/accounts/${id}/statement?${query}`);
      expect(answer, query).toMatchObject({ status: 400, code: 'invalid_request' });
    }
    for (const amount of ['0.00', '-1.00', '1', '1.000', '01.00', 1]) {
      expect(await deposit(amount as string, 'c')).toMatchObject({ status: 400, code: 'invalid_request' });
    }
    expect(await operator.statement(newId(), 'test')).toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('challenges', () => {
  test('a challenge is created with the defaults of the contract', async () => {
    const { id } = await makeProgram();
    const { threshold: _none, status: _calibrating, ...terms } = TERMS;
    const created = await operator.createChallenge(id, terms);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Sprint',
      description: null,
      fee: '0.00',
      prize: '4.00',
      currency: 'USD',
      status: 'calibrating',
      prize_structure: 'threshold',
      threshold: null,
      min_calibration_n: 200,
      calibration_source: 'observed',
      metric_name: 'score',
      metric_unit: 'points',
      rung: 1,
      parent_challenge_id: null,
      calibration: { collected: 0, required: 200, playersCollected: 0, playersRequired: 20 },
      program_id: id,
      environment: 'test',
      configured_fee: '1.00',
      configured_prize: '4.00',
      threshold_direction: 'higher_is_better',
      target_pass_rate: 0.2,
      integrity_tier: 1,
      top_n: null,
      score_min: null,
      score_max: null,
      min_calibration_players: 20,
      daily_attempt_cap: 10,
      required_verification_level: 0,
      jurisdictions: [],
      created_at: expect.stringMatching(INSTANT),
    });
    expect((await operator.getChallenge(created.body.id)).body).toEqual(created.body);
  });

  test('a challenge goes live with a bar, and is suspended, reinstated and closed', async () => {
    const { id } = await makeProgram();
    const { body } = await operator.createChallenge(id, { ...TERMS, prize: '99.00' });
    expect(body).toMatchObject({ status: 'live', threshold: 100, fee: '1.00', prize: '99.00' });
    for (const status of ['suspended', 'live', 'closed']) {
      expect(await operator.updateChallenge(body.id, { status })).toMatchObject({ status: 200, body: { status } });
    }
    expect(await operator.updateChallenge(body.id, { status: 'calibrating' })).toMatchObject({ status: 400 });
    expect(await operator.updateChallenge(newId(), { status: 'live' })).toMatchObject({
      status: 404,
      code: 'not_found',
    });
    expect(await operator.getChallenge('x')).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('a challenge with wrong terms is refused', async () => {
    const { id } = await makeProgram();
    for (const wrong of [
      { environment: 'prod' },
      { name: undefined },
      { fee: '0.00' },
      { fee: 1 },
      { prize: '-1.00' },
      { threshold_direction: 'up' },
      { target_pass_rate: 0 },
      { target_pass_rate: 1 },
      { integrity_tier: 4 },
      { integrity_tier: 1.5 },
      { prize_structure: 'top_n' },
      { top_n: 3 },
      { score_min: 6, score_max: 5 },
      { threshold: undefined },
      { status: 'calibrating' },
      { status: 'closed' },
      { min_calibration_n: 0 },
      { daily_attempt_cap: 0 },
      { required_verification_level: 4 },
      { jurisdictions: 'US' },
      { parent_challenge_id: 'x' },
      { parent_challenge_id: newId() },
    ]) {
      const answer = await operator.createChallenge(id, { ...TERMS, ...wrong });
      expect(answer, JSON.stringify(wrong)).toMatchObject({ status: 400, code: 'invalid_request' });
    }
    const infinite = JSON.stringify(TERMS).replace('"threshold":100', '"threshold":1e999');
    const answer = await operator.send('POST', `/programs/${id}/challenges`, {
      raw: infinite,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe('payouts, voiding and receipts', () => {
  test('a held award is listed, and released once or denied', async () => {
    const program = await makeProgram();
    await program.partner.createPlayer('winner', '20.00');
    expect(await program.partner.holdNextAward('winner')).toMatchObject({ status: 204, text: '' });
    const won = await winAttempt(program, 'winner');
    expect(won.outcome.award).toMatchObject({ payout_status: 'held', paid_at: null });

    const held = (await operator.listPayouts('held')).body.data.find((payout) => payout.award_id === won.awardId);
    expect(held).toEqual({
      award_id: won.awardId,
      attempt_id: won.attempt.id,
      round_id: null,
      program_id: program.id,
      environment: 'test',
      account_id: expect.stringMatching(UUID),
      amount: '4.00',
      status: 'held',
      reason: 'sandbox_hold',
      created_at: expect.stringMatching(INSTANT),
      paid_at: null,
    });
    for (let time = 0; time < 2; time += 1) {
      expect(await operator.releasePayout(won.awardId)).toMatchObject({
        status: 200,
        body: { award_id: won.awardId, status: 'paid' },
      });
    }
    expect(await operator.denyPayout(won.awardId)).toMatchObject({ status: 409, code: 'conflict' });
    expect((await operator.listPayouts('held')).body.data.map(({ award_id }) => award_id)).not.toContain(won.awardId);
    expect(await operator.listPayouts('lost')).toMatchObject({ status: 400, code: 'invalid_request' });

    await program.partner.holdNextAward('winner');
    const second = await winAttempt(program, 'winner');
    expect(await operator.denyPayout(second.awardId)).toMatchObject({ status: 200, body: { status: 'denied' } });
    expect(await operator.releasePayout(second.awardId)).toMatchObject({ status: 409, code: 'conflict' });
    for (const id of [newId(), newOwnedId('challenge'), newOwnedId('tournament'), 'x']) {
      expect(await operator.releasePayout(id)).toMatchObject({ status: 404, code: 'not_found' });
    }
  });

  test('an open attempt is voided once, with a reason', async () => {
    const program = await makeProgram();
    await program.partner.createPlayer('p', '20.00');
    const challenge = (await operator.createChallenge(program.id, TERMS)).body;
    const attempt = (await program.partner.createAttempt({ challenge_id: challenge.id, player_ref: 'p' })).body;
    expect(await operator.voidAttempt(attempt.id, '')).toMatchObject({ status: 400, code: 'invalid_request' });
    expect((await operator.voidAttempt(attempt.id, 'The server crashed.')).body).toEqual({
      ...attempt,
      status: 'voided',
    });
    const settled = await winAttempt(program, 'p');
    expect(await operator.voidAttempt(settled.attempt.id, 'Too late.')).toMatchObject({
      status: 409,
      code: 'conflict',
    });
    expect(await operator.voidAttempt(newOwnedId('challenge'), 'Who?')).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });

  test('a receipt is answered with its signature and key', async () => {
    const program = await makeProgram();
    await program.partner.createPlayer('p', '20.00');
    const { outcome } = await winAttempt(program, 'p');
    const receipt = await operator.getReceipt(outcome.receipt_id);
    expect(receipt.status).toBe(200);
    expect(Object.keys(receipt.body)).toEqual(['receipt', 'signature', 'public_key']);
    expect(Buffer.from(receipt.body.signature, 'base64')).toHaveLength(64);
    expect(receipt.text).toContain('"ratio":0.1');
    expect(await operator.getReceipt(newId())).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('the audit finds every invariant of every service kept', async () => {
    const { status, body } = await operator.audit();
    expect(status).toBe(200);
    expect(body.checks.filter(({ violations }) => violations !== 0)).toEqual([]);
    expect(body.ok).toBe(true);
    expect(body.checks.map(({ id }) => id)).toEqual(expect.arrayContaining(['completed_keys_have_a_response']));
    expect(new Set(body.checks.map(({ id }) => id)).size).toBe(body.checks.length);
  });
});

describe('sandbox', () => {
  test('the sandbox creates, links and funds a player; funds add up', async () => {
    const { partner } = await makeProgram();
    const made = await partner.createPlayer('spieler äöü', '10.00');
    expect(made.status).toBe(201);
    expect(made.body).toEqual({ player_ref: 'spieler äöü', linked: true, created_at: expect.stringMatching(INSTANT) });
    expect((await partner.createPlayer('spieler äöü')).body).toEqual(made.body);
    expect(await partner.holdNextAward('spieler äöü')).toMatchObject({ status: 204 });
    expect(await partner.holdNextAward('unknown')).toMatchObject({ status: 404, code: 'not_found' });
    for (const body of [{}, { player_ref: '' }, { player_ref: 'x'.repeat(256) }, { player_ref: 'x', funds: 1 }]) {
      const answer = await partner.send('POST', '/api/sandbox/players', { body });
      expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  test('the sandbox lets the hour of an attempt pass', async () => {
    const program = await makeProgram();
    await program.partner.createPlayer('p', '20.00');
    const challenge = (await operator.createChallenge(program.id, TERMS)).body;
    const attempt = (await program.partner.createAttempt({ challenge_id: challenge.id, player_ref: 'p' })).body;
    const other = await makeProgram();
    expect(await other.partner.expireAttempt(attempt.id)).toMatchObject({ status: 404, code: 'not_found' });
    expect((await program.partner.expireAttempt(attempt.id)).body).toEqual({ ...attempt, status: 'expired' });
    const settled = await winAttempt(program, 'p');
    expect(await program.partner.expireAttempt(settled.attempt.id)).toMatchObject({
      status: 409,
      code: 'attempt_already_settled',
    });
    expect(await program.partner.expireAttempt('x')).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('the sandbox accepts test keys only, and uses nothing of the rate limit of /v1', async () => {
    const made = await operator.createProgram('Arcade');
    const live = createPartner(http, (await operator.approveProgram(made.body.id)).body.live_key);
    const refusals = await Promise.all([
      live.send('POST', '/api/sandbox/players', { body: { player_ref: 'p' } }),
      http.send('POST', '/api/sandbox/players', { body: { player_ref: 'p' } }),
      createPartner(http, `${made.body.test_key}x`).createPlayer('p'),
    ]);
    expect(refusals.map(({ status, text }) => [status, text])).toEqual(refusals.map(() => [401, refusals[0].text]));

    const partner = createPartner(http, made.body.test_key);
    const statuses: number[] = [];
    for (let time = 0; time <= RATE_LIMIT; time += 1) statuses.push((await partner.holdNextAward('unknown')).status);
    expect(statuses).toEqual(statuses.map(() => 404));
    const { headers } = await partner.listChallenges('p');
    expect(headers).toMatchObject({
      'x-ratelimit-limit': String(RATE_LIMIT),
      'x-ratelimit-remaining': String(RATE_LIMIT - 1),
    });
  });
});

test('every operator mutation writes one log line, without e-mail, password or key', async () => {
  const email = `${randomUUID()}@example.com`;
  const { id } = await makeAccount(email);
  await operator.updateAccount(id, { blocked: true });
  const expected = [
    { actor: 'operator', action: 'create_account', result: 'done', id },
    { actor: 'operator', action: 'change_account', result: 'done', accountId: id, changed: ['blocked'] },
  ];
  // The lines arrive through a pipe, perhaps after the answers.
  await vi.waitFor(() => {
    const lines = stack.logs('gateway').filter((line) => line.includes('operator action') && line.includes(id));
    expect(lines.map((line) => JSON.parse(line))).toEqual(expected.map((line) => expect.objectContaining(line)));
  }, 10_000);
  const all = stack.logs('gateway').join('\n');
  expect(all).not.toContain(email);
  expect(all).not.toMatch(/sk_(?:test|live)_[0-9A-Za-z]{8}|correct horse/);
});
