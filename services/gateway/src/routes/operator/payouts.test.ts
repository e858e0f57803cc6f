/**
 * The wallet and the contest service are scripted. The tests check which calls they get, and what
 * an operator sees of their results.
 */
import { refused } from '@laurel/errors';
import { AttemptServiceService } from '@laurel/proto/attempts';
import { Environment } from '@laurel/proto/common';
import { type Account, type Payout, PayoutStatus, WalletServiceService } from '@laurel/proto/wallet';
import { createTestDatabase } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';

const AT = new Date('2026-11-21T12:00:00.000Z');
const HELD: Payout = {
  awardId: newOwnedId('challenge'),
  attemptId: newOwnedId('challenge'),
  roundId: '',
  tenant: { programId: newId(), environment: Environment.LIVE },
  accountId: newId(),
  amountCents: 5_00n,
  status: PayoutStatus.HELD,
  reason: 'enforcement_flag',
  createdAt: AT,
  paidAt: undefined,
};
const SHOWN = {
  award_id: HELD.awardId,
  attempt_id: HELD.attemptId,
  round_id: null,
  program_id: HELD.tenant?.programId,
  environment: 'live',
  account_id: HELD.accountId,
  amount: '5.00',
  status: 'held',
  reason: 'enforcement_flag',
  created_at: AT.toISOString(),
  paid_at: null,
  decision: null,
};
const PATH = `/payouts/${HELD.awardId}`;
const ANA = 'token-of-ana-in-the-tests-of-payouts';

const stack = new AsyncDisposableStack();
let wallet: ScriptedService<typeof WalletServiceService>;
let challenge: ScriptedService<typeof AttemptServiceService>;
/** The holder of the token is named `operator`. */
let operate: ReturnType<typeof operatorOf>;
let operateAsAna: ReturnType<typeof operatorOf>;

beforeAll(async () => {
  wallet = stack.use(await startScriptedService(WalletServiceService));
  challenge = stack.use(await startScriptedService(AttemptServiceService));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const gateway = await startTestGateway({
    GATEWAY_DATABASE_URL: runningUrl,
    WALLET_ADDRESS: wallet.address,
    CHALLENGE_ADDRESS: challenge.address,
    OPERATOR_TOKENS: `ana:${ANA}`,
  });
  const { port } = stack.use(gateway);
  operate = operatorOf(port);
  operateAsAna = operatorOf(port, ANA);
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  wallet.script = {};
  challenge.script = {};
  wallet.asked.length = 0;
  challenge.asked.length = 0;
});

/** The wallet's payout after a decision. */
function decided(status: PayoutStatus, operator: string, reason?: string): Payout {
  const paidAt = status === PayoutStatus.PAID ? AT : undefined;
  return { ...HELD, status, paidAt, decision: { operator, reason, decidedAt: AT } };
}

const answerOf = (payout: Payout) => ({ payout, deniedAt: undefined });

describe('an operator decides a held payout', () => {
  test.each<[string, unknown]>([
    ['an empty reason', { reason: '' }],
    ['a blank reason', { reason: ' \n\t' }],
    ['a reason of 1,001 characters', { reason: 'x'.repeat(1_001) }],
    ['a reason with NUL', { reason: 'a\0b' }],
    ['a reason that is not a text', { reason: 7 }],
  ])('a denial with %s is 400 without a call', async (_what, body) => {
    expect(await operate('POST', `${PATH}/deny`, body)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(challenge.asked).toEqual([]);
  });

  test.each([
    ['an empty body', undefined],
    ['an empty object', {}],
  ])('a denial with %s counts as a denial without a reason', async (_what, body) => {
    challenge.script.denyAward = async () => ({});
    wallet.script.getPayout = async () => answerOf(decided(PayoutStatus.DENIED, 'operator'));
    const denied = await operate('POST', `${PATH}/deny`, body);
    expect([denied.status, denied.body]).toMatchObject([200, { status: 'denied', decision: { reason: null } }]);
    expect(challenge.asked).toEqual([
      ['denyAward', { awardId: HELD.awardId, operator: 'operator', reason: undefined }],
    ]);
  });

  test('a release needs no reason, but a blank reason is 400', async () => {
    expect(await operate('POST', `${PATH}/release`, { reason: ' ' })).toMatchObject({ status: 400 });
    expect(challenge.asked).toEqual([]);
    challenge.script.releaseAward = async () => ({});
    wallet.script.getPayout = async () => answerOf(decided(PayoutStatus.PAID, 'operator'));
    const released = await operate('POST', `${PATH}/release`, {});
    expect([released.status, released.body]).toEqual([
      200,
      {
        ...SHOWN,
        status: 'paid',
        paid_at: AT.toISOString(),
        decision: { decision: 'released', at: AT.toISOString(), operator: 'operator', reason: null },
      },
    ]);
    expect(challenge.asked).toEqual([
      ['releaseAward', { awardId: HELD.awardId, operator: 'operator', reason: undefined }],
    ]);
  });

  test('a denial reaches the contest service with its operator and reason', async () => {
    challenge.script.denyAward = async () => ({});
    wallet.script.getPayout = async () => answerOf(decided(PayoutStatus.DENIED, 'ana', 'a bot'));
    const denied = await operateAsAna('POST', `${PATH}/deny`, { reason: 'a bot' });
    expect([denied.status, denied.body]).toEqual([
      200,
      {
        ...SHOWN,
        status: 'denied',
        decision: { decision: 'denied', at: AT.toISOString(), operator: 'ana', reason: 'a bot' },
      },
    ]);
    expect(challenge.asked).toEqual([['denyAward', { awardId: HELD.awardId, operator: 'ana', reason: 'a bot' }]]);
  });

  test.each<[string, 'release' | 'deny', Payout, string]>([
    [
      'releases what another released',
      'release',
      decided(PayoutStatus.PAID, 'ana', 'a bot'),
      'The payout was released by ana.',
    ],
    [
      'denies what another denied',
      'deny',
      decided(PayoutStatus.DENIED, 'ana', 'a bot'),
      'The payout was denied by ana.',
    ],
    ['denies what another released', 'deny', decided(PayoutStatus.PAID, 'ana'), 'The payout was released by ana.'],
    [
      'denies again for another reason',
      'deny',
      decided(PayoutStatus.DENIED, 'operator', 'two players'),
      'The payout was denied by operator, with another reason.',
    ],
    [
      'releases what no rule held',
      'release',
      { ...HELD, status: PayoutStatus.PAID, reason: '', paidAt: AT },
      'The payout was paid without a hold.',
    ],
    ['denies what release 0.2.0 denied', 'deny', { ...HELD, status: PayoutStatus.DENIED }, 'The payout was denied.'],
  ])('an operator who %s gets a conflict that names the decision', async (_what, verb, payout, message) => {
    wallet.script.getPayout = async () => answerOf(payout);
    for (const answer of [async () => ({}), async () => refused('conflict')]) {
      challenge.script = { releaseAward: answer, denyAward: answer };
      const second = await operate('POST', `${PATH}/${verb}`, { reason: 'a bot' });
      expect(second).toMatchObject({ status: 409, code: 'conflict', body: { error: { message } } });
    }
  });
});

describe('the list of payouts', () => {
  test('each filter of payouts is passed to the wallet', async () => {
    wallet.script.listPayouts = async () => ({ payouts: [HELD], nextCursor: '' });
    expect((await operate('GET', '/payouts')).body).toEqual({ data: [SHOWN], next_cursor: null });
    wallet.script.listPayouts = async () => ({ payouts: [], nextCursor: 'next' });
    const { programId = '' } = HELD.tenant ?? {};
    const query = `status=held&account_id=${HELD.accountId.toUpperCase()}&program_id=${programId}&environment=live&limit=5`;
    expect((await operate('GET', `/payouts?${query}`)).body).toEqual({ data: [], next_cursor: 'next' });
    expect(wallet.asked.map(([, request]) => request)).toEqual([
      { status: PayoutStatus.UNSPECIFIED, limit: 200, cursor: '' },
      {
        status: PayoutStatus.HELD,
        limit: 5,
        cursor: '',
        accountId: HELD.accountId,
        programId,
        environment: Environment.LIVE,
      },
    ]);
  });

  test.each(['account_id=x', 'program_id=', 'environment=prod', 'accountid=x', 'round_id=x'])(
    'a list with the query "%s" is 400, and the wallet is not asked',
    async (query) => {
      expect(await operate('GET', `/payouts?${query}`)).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(wallet.asked).toEqual([]);
    },
  );
});

describe('one payout', () => {
  test('a payout is shown with its account and with the payouts of 24 hours', async () => {
    const account: Account = {
      id: HELD.accountId,
      email: 'ann@example.com',
      dateOfBirth: '1990-02-28',
      jurisdiction: 'US-CA',
      verificationLevel: 2,
      selfExcludedUntil: undefined,
      enforcementFlag: true,
      underInvestigation: false,
      blocked: false,
      sandboxOnly: false,
      createdAt: AT,
    };
    const programLimits = { tenant: HELD.tenant, paidCents: 20_00n };
    const accountPayouts = { paidCount: 3n, paidCents: 12_00n, countLimit: 5n, limitCents: 500_00n };
    wallet.script.describePayout = async () => ({ payout: HELD, account, accountPayouts, programLimits });
    const shown = {
      ...SHOWN,
      account: {
        id: HELD.accountId,
        email: 'ann@example.com',
        enforcement_flag: true,
        under_investigation: false,
        blocked: false,
        verification_level: 2,
        self_excluded_until: null,
        sandbox_only: false,
      },
      paid_24h: {
        account: { count: 3, amount: '12.00', count_limit: 5, amount_limit: '500.00' },
        program: { amount: '20.00', amount_limit: null },
      },
    };
    expect((await operate('GET', PATH)).body).toEqual(shown);
    expect(wallet.asked).toEqual([['describePayout', { awardId: HELD.awardId }]]);
  });

  test('an unknown payout is 404, and a malformed id reaches no service', async () => {
    expect(await operate('GET', PATH)).toMatchObject({ status: 404, code: 'not_found' });
    wallet.asked.length = 0;
    expect(await operate('GET', '/payouts/x')).toMatchObject({ status: 404, code: 'not_found' });
    expect(wallet.asked).toEqual([]);
  });
});

describe('a deposit that compensates for an attempt', () => {
  const ATTEMPT = newOwnedId('challenge');
  const path = `/accounts/${HELD.accountId}/deposits`;
  const body = { environment: 'live', amount: '2.00', reference: 'ticket 7', attempt_id: ATTEMPT };
  const tenantIn = (environment: Environment) => ({ programId: newId(), environment });
  const asked = () => wallet.asked.filter(([rpc]) => rpc === 'deposit').map(([, request]) => request);

  test('a deposit for an attempt reaches the wallet with the attempt', async () => {
    challenge.script.inspectAttempt = async () => ({
      attempt: undefined,
      tenant: tenantIn(Environment.LIVE),
      accountId: HELD.accountId,
    });
    wallet.script.deposit = async () => ({ balanceCents: 2_00n, postedBefore: false });
    expect(await operate('POST', path, body)).toMatchObject({
      status: 201,
      body: { balance: '2.00', posted_before: false },
    });
    expect(asked()).toEqual([
      {
        accountId: HELD.accountId,
        environment: Environment.LIVE,
        amountCents: 2_00n,
        reference: 'ticket 7',
        attemptId: ATTEMPT,
      },
    ]);
  });

  test.each<[string, { tenant: ReturnType<typeof tenantIn> | undefined; accountId?: string } | null]>([
    ['does not exist', null],
    ['another account plays', { tenant: tenantIn(Environment.LIVE), accountId: newId() }],
    ['the account plays in test', { tenant: tenantIn(Environment.TEST), accountId: HELD.accountId }],
    ['no account plays yet', { tenant: tenantIn(Environment.LIVE) }],
    ['release 0.2.0 describes without its account', { tenant: undefined }],
  ])('a deposit for an attempt that %s is 404', async (_what, found) => {
    if (found !== null) challenge.script.inspectAttempt = async () => ({ attempt: undefined, ...found });
    expect(await operate('POST', path, body)).toMatchObject({ status: 404, code: 'not_found' });
    expect(asked()).toEqual([]);
  });

  test('a deposit for an unknown attempt is 404', async () => {
    expect(await operate('POST', path, { ...body, attempt_id: newId() })).toMatchObject({ status: 404 });
    expect(await operate('POST', path, { ...body, attempt_id: 'x' })).toMatchObject({ status: 400 });
    expect(asked()).toEqual([]);
  });
});
