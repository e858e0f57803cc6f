/** The filters and the pages of the operator's list of accounts. */
import { Environment } from '@laurel/proto/common';
import { ACCOUNT_FLAGS } from '@laurel/proto/enum-names';
import { type Account, AccountFlag, type ListAccountsRequest } from '@laurel/proto/wallet';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { LIST_ACCOUNTS } from '../repository/account-list.ts';
import { addPlayer, ok, refusalOf, type TestPlayer, useTestWallet } from '../wallet.fixture.ts';

const wallet = useTestWallet();

const ALL: ListAccountsRequest = {
  email: '',
  player: undefined,
  flag: AccountFlag.UNSPECIFIED,
  sandboxOf: '',
  limit: 200,
  cursor: '',
};

/** The accounts of all pages, newest first. */
async function listAll(filter: Partial<ListAccountsRequest>): Promise<readonly Account[]> {
  const accounts: Account[] = [];
  for (let cursor = ''; ; ) {
    const page = await ok(wallet.client.listAccounts({ ...ALL, ...filter, cursor }));
    accounts.push(...page.accounts);
    if (page.nextCursor === '') return accounts;
    cursor = page.nextCursor;
  }
}

const FLAGS = Object.values(ACCOUNT_FLAGS);

/** People and sandbox accounts of two programs with each flag; two of them share an e-mail. */
async function addAccounts() {
  const programs = [newId(), newId()];
  const email = `${newId()}@players.example`;
  const players: TestPlayer[] = [];
  for (const programId of programs)
    for (const environment of [Environment.TEST, Environment.LIVE])
      for (const flag of [AccountFlag.UNSPECIFIED, ...FLAGS]) {
        wallet.clock.advance(1);
        const isShared = environment === Environment.TEST && flag === AccountFlag.BLOCKED;
        const player = await addPlayer(wallet, { programId, environment, ...(isShared && { email }) });
        const until = new Date(wallet.clock.now.getTime() + 3_600_000);
        await ok(
          wallet.client.updateAccount({
            accountId: player.accountId,
            clearSelfExclusion: false,
            ...(flag === AccountFlag.ENFORCEMENT_FLAG && { enforcementFlag: true }),
            ...(flag === AccountFlag.UNDER_INVESTIGATION && { underInvestigation: true }),
            ...(flag === AccountFlag.BLOCKED && { blocked: true }),
            ...(flag === AccountFlag.SELF_EXCLUDED && { selfExcludedUntil: until }),
          }),
        );
        players.push(player);
      }
  return { programs, email, players };
}

function hasFlag(account: Account, flag: AccountFlag): boolean {
  switch (flag) {
    case AccountFlag.ENFORCEMENT_FLAG:
      return account.enforcementFlag;
    case AccountFlag.UNDER_INVESTIGATION:
      return account.underInvestigation;
    case AccountFlag.BLOCKED:
      return account.blocked;
    case AccountFlag.SELF_EXCLUDED:
      return account.selfExcludedUntil !== undefined && account.selfExcludedUntil > wallet.clock.now;
    default:
      return true;
  }
}

it('the pages of a list have every account that passes all filters exactly once, newest first', async () => {
  const { programs, email, players } = await addAccounts();
  const added = new Map(players.map((player) => [player.accountId, player]));
  const all = (await listAll({})).filter(({ id }) => added.has(id));
  expect(all.map(({ id }) => id)).toEqual(players.map(({ accountId }) => accountId).reverse());
  const anyPlayer = fc.constantFrom(...players);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(AccountFlag.UNSPECIFIED, ...FLAGS),
      fc.constantFrom('', email, newId()),
      fc.constantFrom('', ...programs, newId()),
      fc.option(anyPlayer, { nil: undefined }),
      async (limit, flag, ofEmail, sandboxOf, player) => {
        const left = all.filter(
          (it) =>
            hasFlag(it, flag) &&
            (ofEmail === '' || it.email === ofEmail) &&
            (sandboxOf === '' || it.programId === sandboxOf) &&
            (player === undefined || it.id === player.accountId),
        );
        const listed = await listAll({ limit, flag, email: ofEmail, sandboxOf, player: player?.player });
        expect(listed.filter(({ id }) => added.has(id))).toEqual(left);
      },
    ),
    { numRuns: 60 },
  );
  expect((await listAll({ email })).length).toBe(2);
  const [first] = players;
  const other = {
    tenant: { programId: newId(), environment: Environment.LIVE },
    playerRef: first?.player.playerRef ?? '',
  };
  expect(await listAll({ player: other })).toEqual([]);
});

it('a self-exclusion that has ended leaves an account without that flag', async () => {
  const { accountId } = await addPlayer(wallet);
  const until = new Date(wallet.clock.now.getTime() + 1_000);
  await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, selfExcludedUntil: until }));
  const isListed = async () => (await listAll({ flag: AccountFlag.SELF_EXCLUDED })).some(({ id }) => id === accountId);
  expect(await isListed()).toBe(true);
  wallet.clock.advance(1_000);
  expect(await isListed()).toBe(false);
});

it('a cursor that the wallet did not issue is refused', async () => {
  expect(await refusalOf(wallet.client.listAccounts({ ...ALL, cursor: 'nonsense' }))).toBe('invalid_request');
});

it('a page by any filter among 100,000 accounts is found by index', async () => {
  // Removes the added rows, so that the audit at the end of this file reads the rows of the service
  // only.
  onTestFinished(() =>
    wallet.database.transaction(async (tx) => {
      await tx.query({ text: 'set local session_replication_role = replica' });
      await tx.query({ text: `delete from accounts where email like 'many-%'` });
    }),
  );
  const { programs, email, players } = await addAccounts();
  await wallet.database.query(
    {
      text: `
insert into accounts (id, email, date_of_birth, jurisdiction, verification_level, house_id, created_at)
select gen_random_uuid(), 'many-' || n || '@players.example', '1990-01-01', 'US-CA', 1, $1, now() from generate_series(1, 100000) n`,
    },
    [programs[0]],
  );
  await wallet.database.query({ text: 'vacuum analyze accounts' });
  const [player] = players;
  const { programId } = player?.player.tenant ?? { programId: '' };
  const top = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  const values = (changes: Readonly<Record<number, unknown>>) =>
    [top, null, null, null, null, null, wallet.clock.now, null, 50].map((value, index) => changes[index + 1] ?? value);
  for (const [what, filter] of [
    ['all', {}],
    ['e-mail', { 2: email }],
    ['player', { 3: programId, 4: 'test', 5: player?.player.playerRef }],
    ['flag', { 6: 'blocked' }],
    ['self-exclusion', { 6: 'self_excluded' }],
    ['sandbox', { 8: programs[0] }],
    ['small sandbox', { 8: programs[1] }],
  ] as const) {
    const plan = await wallet.database.query<{ 'QUERY PLAN': string }>(
      { text: `explain (analyze, buffers, costs off, timing off) ${LIST_ACCOUNTS.text}` },
      values(filter),
    );
    const text = `${what}:\n${plan.map((row) => row['QUERY PLAN']).join('\n')}`;
    expect(text).not.toContain('Seq Scan on accounts');
    const pages = /Buffers: shared hit=(\d+)/.exec(text)?.[1];
    expect(Number(pages), text).toBeLessThan(120);
  }
}, 60_000);
