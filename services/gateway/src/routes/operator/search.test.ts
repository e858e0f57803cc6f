/** The search of operators. The challenge service cannot be reached; the others are scripted. */
import { AttemptServiceService } from '@laurel/proto/attempts';
import { Environment, ItemKind } from '@laurel/proto/common';
import { type Account, WalletServiceService } from '@laurel/proto/wallet';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';

const stack = new AsyncDisposableStack();
let tournament: ScriptedService<typeof AttemptServiceService>;
let webhook: ScriptedService<typeof WebhookServiceService>;
let wallet: ScriptedService<typeof WalletServiceService>;
let operate: ReturnType<typeof operatorOf>;
let developerId: string;
let programId: string;

const DEVELOPER = { email: 'dev@example.com', password: 'correct horse battery' };
const MISSING = ['attempt', 'receipt', 'challenge'];

beforeAll(async () => {
  tournament = stack.use(await startScriptedService(AttemptServiceService));
  webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  wallet = stack.use(await startScriptedService(WalletServiceService));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const { port } = stack.use(
    await startTestGateway({
      GATEWAY_DATABASE_URL: runningUrl,
      TOURNAMENT_ADDRESS: tournament.address,
      WEBHOOK_ADDRESS: webhook.address,
      WALLET_ADDRESS: wallet.address,
    }),
  );
  operate = operatorOf(port);
  developerId = (await operate('POST', '/developers', DEVELOPER)).body.id;
  programId = (await operate('POST', '/programs', { name: 'Arcade', developer_id: developerId })).body.id;
}, 60_000);
afterAll(() => stack.disposeAsync());

const nothing = async () => ({ items: [] });
beforeEach(() => {
  for (const service of [tournament, webhook, wallet]) {
    service.script = { lookUpId: nothing };
    service.asked.length = 0;
  }
});

const search = (query: string) => operate('GET', `/search?${query}`);
const NONE = { program_id: null, environment: null, attempt_id: null, account_id: null };

test('a search by an id asks every service and names those that cannot be reached', async () => {
  const [searched, attemptId, accountId] = [newId(), newId(), newId()];
  const item = { tenant: { programId, environment: Environment.LIVE }, attemptId, accountId, summary: '5.00, held' };
  wallet.script.lookUpId = async () => ({ items: [{ ...item, kind: ItemKind.AWARD }] });
  const { status, body } = await search(`q=${searched.toUpperCase()}`);
  const award = { program_id: programId, environment: 'live', attempt_id: attemptId, account_id: accountId };
  expect([status, body]).toEqual([
    200,
    { data: [{ kind: 'award', id: searched, ...award, summary: '5.00, held' }], missing: MISSING },
  ]);
  for (const { asked } of [tournament, webhook, wallet]) expect(asked).toEqual([['lookUpId', { id: searched }]]);
});

test('the ids of a program and of a developer are found in the gateway', async () => {
  expect((await search(`q=${programId}`)).body.data).toEqual([
    { ...NONE, kind: 'program', id: programId, program_id: programId, summary: 'Arcade, draft' },
  ]);
  expect((await search(`q=${developerId}`)).body.data).toEqual([
    { ...NONE, kind: 'developer', id: developerId, summary: DEVELOPER.email },
  ]);
  expect((await search(`q=${newId()}`)).body).toEqual({ data: [], missing: MISSING });
});

const ACCOUNT: Account = {
  id: newId(),
  email: 'ann@example.com',
  dateOfBirth: '1990-02-28',
  jurisdiction: 'US-CA',
  verificationLevel: 1,
  selfExcludedUntil: undefined,
  enforcementFlag: false,
  underInvestigation: false,
  blocked: false,
  feeLimitCents: undefined,
  sandboxOnly: false,
  programId: undefined,
  createdAt: new Date(),
};

test('an e-mail finds accounts and developers, in any case', async () => {
  wallet.script.listAccounts = async () => ({ accounts: [ACCOUNT], nextCursor: '' });
  const account = { ...NONE, kind: 'account', id: ACCOUNT.id, account_id: ACCOUNT.id, summary: ACCOUNT.email };
  expect((await search('q=Ann%40Example.com')).body).toEqual({ data: [account], missing: [] });
  expect(wallet.asked).toMatchObject([['listAccounts', { email: ACCOUNT.email, player: undefined }]]);
  const developer = { ...NONE, kind: 'developer', id: developerId, summary: DEVELOPER.email };
  expect((await search(`q=${encodeURIComponent(DEVELOPER.email)}`)).body.data).toContainEqual(developer);
});

test('a player_ref finds its accounts in both environments of the program', async () => {
  wallet.script.listAccounts = async ({ player }) => ({
    accounts: player?.tenant?.environment === Environment.TEST ? [{ ...ACCOUNT, programId }] : [],
    nextCursor: '',
  });
  for (const ref of ['p-1', newId()]) {
    expect((await search(`q=${ref}&program_id=${programId}`)).body.data).toEqual([
      {
        kind: 'player_ref',
        id: ref,
        program_id: programId,
        environment: 'test',
        attempt_id: null,
        account_id: ACCOUNT.id,
        summary: ACCOUNT.email,
      },
    ]);
  }
});

test('a player_ref without its program is refused without a call', async () => {
  for (const query of ['q=p-1', 'q=', '', `program_id=${newId()}`, 'q=p-1&program_id=x', `q=${newId()}&kind=attempt`])
    expect([query, (await search(query)).status]).toEqual([query, 400]);
  expect([tournament.asked, webhook.asked, wallet.asked]).toEqual([[], [], []]);
});
