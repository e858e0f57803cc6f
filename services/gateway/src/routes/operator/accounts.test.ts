/**
 * The wallet is scripted. The tests check what the gateway refuses without a call, which calls it
 * makes, and how results are shown.
 */

import { Environment } from '@laurel/proto/common';
import { type Account, AccountFlag, WalletServiceService } from '@laurel/proto/wallet';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { fetchDescribed } from '../../described-answer.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';

const INVALID = { status: 400, code: 'invalid_request' };
const NOT_FOUND = { status: 404, code: 'not_found' };
const AT = new Date('2026-11-21T12:00:00.000Z');
const PERSON = { email: 'ann@example.com', date_of_birth: '1990-02-28', jurisdiction: 'US-CA', verification_level: 1 };
const ACCOUNT: Account = {
  id: newId(),
  email: PERSON.email,
  dateOfBirth: PERSON.date_of_birth,
  jurisdiction: PERSON.jurisdiction,
  verificationLevel: PERSON.verification_level,
  selfExcludedUntil: undefined,
  enforcementFlag: false,
  underInvestigation: false,
  blocked: false,
  feeLimitCents: undefined,
  sandboxOnly: false,
  programId: undefined,
  createdAt: AT,
};
const PATH = `/accounts/${ACCOUNT.id}`;

const stack = new AsyncDisposableStack();
let wallet: ScriptedService<typeof WalletServiceService>;
let port: number;
let operate: ReturnType<typeof operatorOf>;
let program: { readonly id: string; readonly test_key: string };
let lines: string[] = [];

beforeAll(async () => {
  wallet = stack.use(await startScriptedService(WalletServiceService));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const logger = createLogger({
    service: 'gateway',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const settings = { GATEWAY_DATABASE_URL: runningUrl, WALLET_ADDRESS: wallet.address };
  ({ port } = stack.use(await startTestGateway(settings, { logger })));
  operate = operatorOf(port);
  program = (await operate('POST', '/programs', { name: 'Arcade' })).body;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  wallet.script = {};
  wallet.asked.length = 0;
  lines = [];
});

/** The requests of this rpc; an action also reads its subject. */
const askedOf = (rpc: string) => wallet.asked.filter(([name]) => name === rpc).map(([, request]) => request);

describe('accounts', () => {
  test.each<[string, object]>([
    ['no e-mail', { email: undefined }],
    ['an empty e-mail', { email: '' }],
    ['an e-mail without @', { email: 'nonsense' }],
    ['a date that is none', { date_of_birth: '1990-02-30' }],
    ['a date in another form', { date_of_birth: '28.02.1990' }],
    ['a day before 1900', { date_of_birth: '1899-12-31' }],
    ['a day in the first year', { date_of_birth: '0001-01-01' }],
    ['the name of a place', { jurisdiction: 'California' }],
    ['no jurisdiction', { jurisdiction: '' }],
    ['a verification level of 4', { verification_level: 4 }],
    ['a verification level of 1.5', { verification_level: 1.5 }],
    ['a verification level as text', { verification_level: '1' }],
    ['a program that is not an id', { program_id: 'x' }],
  ])('an account with %s is refused without a call to the wallet', async (_what, wrong) => {
    expect(await operate('POST', '/accounts', { ...PERSON, ...wrong })).toMatchObject(INVALID);
    expect(wallet.asked).toEqual([]);
  });

  test('a creation of an account for an unknown program is 404 without a call to the wallet', async () => {
    expect(await operate('POST', '/accounts', { ...PERSON, program_id: newId() })).toMatchObject(NOT_FOUND);
    expect(wallet.asked).toEqual([]);
  });

  test.each<[string, object]>([
    ['nothing', {}],
    ['a flag as text', { blocked: 'yes' }],
    ['an unknown field', { enforcement_flags: true }],
    ['a self-exclusion that ends at no instant', { self_excluded_until: 'soon' }],
    // Instants that could not be read back.
    ...[
      '9999-12-31T23:59:59-05:00',
      '9999-01-01T00:00:00.001Z',
      '1899-12-31T23:59:59.999Z',
      '0001-01-01T00:00:00Z',
    ].map((self_excluded_until): [string, object] => [
      `a self-exclusion until ${self_excluded_until}`,
      { self_excluded_until, blocked: true },
    ]),
  ])('a change of an account to %s is refused without a call to the wallet', async (_what, wrong) => {
    expect(await operate('PATCH', PATH, wrong)).toMatchObject(INVALID);
    expect(askedOf('updateAccount')).toEqual([]);
  });

  test('a change of an unknown account is 404', async () => {
    expect(await operate('PATCH', PATH, { blocked: true })).toMatchObject(NOT_FOUND);
    expect(askedOf('updateAccount')).toMatchObject([{ accountId: ACCOUNT.id, blocked: true }]);
  });

  test('each change by an operator writes one log line, without e-mail or key', async () => {
    wallet.script.createAccount = async () => ({ account: ACCOUNT });
    wallet.script.getAccount = async () => ({ account: ACCOUNT, charges: [] });
    wallet.script.updateAccount = async () => ({ account: { ...ACCOUNT, blocked: true } });
    await operate('POST', '/accounts', PERSON);
    await operate('PATCH', PATH, { blocked: true });
    const { id } = ACCOUNT;
    expect(lines.filter((line) => line.includes('operator action')).map((line) => JSON.parse(line))).toMatchObject([
      { actor: 'operator', action: 'create_account', result: 'done', id },
      { actor: 'operator', action: 'change_account', result: 'done', accountId: id, changed: ['blocked'] },
    ]);
    expect(lines.join()).not.toContain(PERSON.email);
    expect(lines.join()).not.toMatch(/sk_(?:test|live)_[0-9A-Za-z]{8}/);
  });
});

describe('lists of accounts', () => {
  const NO_FILTER = {
    email: '',
    player: undefined,
    flag: AccountFlag.UNSPECIFIED,
    sandboxOf: '',
    limit: 200,
    cursor: '',
  };

  test.each<[string, object]>([
    ['', {}],
    ['email=Ann%40Example.com', { email: PERSON.email }],
    ['flag=self_excluded&limit=3&cursor=x', { flag: AccountFlag.SELF_EXCLUDED, limit: 3, cursor: 'x' }],
    [`sandbox_of=${ACCOUNT.id}`, { sandboxOf: ACCOUNT.id }],
    [
      `player_ref=p-1&program_id=${ACCOUNT.id}&environment=live`,
      { player: { tenant: { programId: ACCOUNT.id, environment: Environment.LIVE }, playerRef: 'p-1' } },
    ],
  ])('a list of accounts by "%s" asks the wallet for the matching accounts', async (query, asked) => {
    wallet.script.listAccounts = async () => ({ accounts: [ACCOUNT], nextCursor: 'next' });
    const { status, body } = await operate('GET', `/accounts?${query}`);
    expect([status, body]).toMatchObject([200, { data: [{ ...PERSON, id: ACCOUNT.id }], next_cursor: 'next' }]);
    expect(wallet.asked).toEqual([['listAccounts', { ...NO_FILTER, ...asked }]]);
  });

  test.each([
    'email=nonsense',
    'email=',
    'flag=banned',
    'sandbox_of=x',
    'player_ref=p-1',
    'program_id=01a1a001-52c0-7f4d-a2b8-6e17c9d03f52&environment=test',
    'player_ref=p-1&program_id=01a1a001-52c0-7f4d-a2b8-6e17c9d03f52',
    'limit=0',
    'blocked=true',
  ])('a list of accounts by "%s" is refused without a call', async (query) => {
    expect(await operate('GET', `/accounts?${query}`)).toMatchObject(INVALID);
    expect(wallet.asked).toEqual([]);
  });
});

describe('deposits and statements', () => {
  test.each([
    ...['0.00', '-1.00', '1', '1.0', '1.000', '01.00', '1e3', ' 1.00', '', '1,00', '99999999999999.00', 'NaN'],
    ...[1, null, true, {}, ['1.00']],
  ])('a deposit of %j is refused without a call to the wallet', async (amount) => {
    const deposit = { environment: 'test', amount, reference: 'a' };
    expect(await operate('POST', `${PATH}/deposits`, deposit)).toMatchObject(INVALID);
    expect(askedOf('deposit')).toEqual([]);
  });

  test('a statement shows the wallet’s lines page by page', async () => {
    const line = { id: newId(), kind: 'deposit', createdAt: AT };
    wallet.script.getStatement = async () => ({
      balanceCents: 5_001n,
      lines: [{ ...line, amountCents: 1n, balanceAfterCents: 5_001n, reference: 'b' }],
      nextCursor: 'next',
    });
    const shown = {
      balance: '50.01',
      data: [
        {
          id: line.id,
          kind: 'deposit',
          amount: '0.01',
          balance_after: '50.01',
          reference: 'b',
          attempt_id: null,
          created_at: AT.toISOString(),
        },
      ],
      next_cursor: 'next',
    };
    expect((await operate('GET', `${PATH}/statement?environment=test&limit=1`)).body).toEqual(shown);
    wallet.script.getStatement = async () => ({ balanceCents: 5_001n, lines: [], nextCursor: '' });
    const rest = await operate('GET', `${PATH}/statement?environment=test&cursor=next`);
    expect(rest.body).toEqual({ balance: '50.01', data: [], next_cursor: null });
    const common = { accountId: ACCOUNT.id, environment: Environment.TEST };
    expect(askedOf('getStatement')).toEqual([
      { ...common, limit: 1, cursor: '' },
      { ...common, limit: 200, cursor: 'next' },
    ]);
  });

  test.each(['', 'environment=prod', 'environment=test&limit=x', 'environment=test&cursor=%00'])(
    'a statement with the query "%s" is refused',
    async (query) => {
      expect(await operate('GET', `${PATH}/statement?${query}`)).toMatchObject(INVALID);
      expect(wallet.asked).toEqual([]);
    },
  );
});

describe('insiders and payouts', () => {
  test('only an existing account can be added as an insider', async () => {
    const add = (accountId: string) => operate('POST', `/programs/${program.id}/insiders`, { account_id: accountId });
    expect(await add(ACCOUNT.id)).toMatchObject(NOT_FOUND);
    expect(await add('x')).toMatchObject(INVALID);
    wallet.script.addInsider = async () => ({});
    for (let time = 0; time < 2; time += 1) {
      const added = await add(ACCOUNT.id);
      expect([added.status, added.body]).toEqual([201, { program_id: program.id, account_id: ACCOUNT.id }]);
    }
  });

  test('payouts cannot be listed by an unknown status', async () => {
    expect(await operate('GET', '/payouts?status=lost')).toMatchObject(INVALID);
    for (const id of ['x', newId()]) {
      expect(await operate('POST', `/payouts/${id}/release`, {})).toMatchObject(NOT_FOUND);
    }
    expect(askedOf('listPayouts')).toEqual([]);
  });
});

describe('sandbox players', () => {
  test.each<[string, object]>([
    ['no player_ref', {}],
    ['an empty player_ref', { player_ref: '' }],
    ['a player_ref of 256 characters', { player_ref: 'x'.repeat(256) }],
    ['funds as a number', { player_ref: 'a', funds: 1 }],
    ['funds with one decimal', { player_ref: 'a', funds: '1.0' }],
    ['negative funds', { player_ref: 'a', funds: '-1.00' }],
  ])('a sandbox player with %s is refused without a call to the wallet', async (_what, body) => {
    const refused = await fetchDescribed(port, '/api/sandbox/players', {
      method: 'POST',
      headers: { 'x-api-key': program.test_key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([refused.status, refused.code]).toEqual([400, 'invalid_request']);
    expect(wallet.asked).toEqual([]);
  });
});
