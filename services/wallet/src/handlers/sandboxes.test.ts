import { Environment } from '@laurel/proto/common';
import { PayoutStatus, type Player } from '@laurel/proto/wallet';
import { newId } from '@laurel/values/ids';
import { beforeAll, describe, expect, it } from 'vitest';
import { houseLedgerId, LIVE_HOUSE, playerLedgerId, SHARED_SANDBOX } from '../domain/ledger.ts';
import {
  addPlayer,
  awardOf,
  balanceOf,
  charge,
  chargeOf,
  countOptimisticFees,
  ok,
  purseOf,
  refusalOf,
  type TestPlayer,
  useTestWallet,
  type WalletClient,
} from '../wallet.fixture.ts';

const wallet = useTestWallet();
let replica: WalletClient;

beforeAll(async () => {
  replica = await wallet.startReplica();
});

const MOST = 10_000_00n;

function playerOf(
  programId: string,
  playerRef = `ref-${newId()}`,
  environment: Environment = Environment.TEST,
): Player {
  return { tenant: { programId, environment }, playerRef };
}

/** Creates a sandbox player as a partner does. */
async function make(player: Player, fundsCents = 0n, facts: object = {}): Promise<TestPlayer> {
  const { accountId } = await ok(wallet.client.putSandboxPlayer({ player, fundsCents, ...facts }));
  return { accountId, email: '', player };
}

/** A digest of every row that a call of the wallet could change. */
async function digest(): Promise<unknown> {
  const tables = ['accounts', 'houses', 'player_links', 'program_accounts', 'ledger_accounts', 'transfers', 'payouts'];
  return await Promise.all(
    tables.map((table) =>
      wallet.database.query({
        text: `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from ${table} t`,
      }),
    ),
  );
}

describe('a test key', () => {
  it('a test key can link only sandbox accounts of its own program', async () => {
    const programId = newId();
    const person = await addPlayer(wallet);
    const own = await addPlayer(wallet, { environment: Environment.TEST, programId });
    const others = await addPlayer(wallet, { environment: Environment.TEST });
    const link = (player: Player, { email }: TestPlayer) => wallet.client.putPlayerLink({ player, email });
    const before = await digest();
    expect(await refusalOf(link(playerOf(programId), person))).toBe('not_found');
    expect(await refusalOf(link(playerOf(programId), others))).toBe('not_found');
    expect(await refusalOf(link(own.player, person))).toBe('not_found');
    expect(await refusalOf(link(playerOf(programId, 'p', Environment.LIVE), own))).toBe('not_found');
    expect(await digest()).toEqual(before);
    expect(await ok(link(playerOf(programId), own))).toMatchObject({ accountId: own.accountId });
    expect(await ok(link(playerOf(programId, 'p', Environment.LIVE), person))).toMatchObject({
      accountId: person.accountId,
    });
  });

  it('a person and sandbox accounts of two programs may share an e-mail address', async () => {
    const person = await addPlayer(wallet, { balanceCents: 5_00n });
    const { email } = person;
    const player = { ...person.player, tenant: { programId: newId(), environment: Environment.TEST } };
    const other = { ...player, tenant: { ...player.tenant, programId: newId() } };
    const [first, second] = [await make(player, 1_00n, { email }), await make(other, 2_00n, { email })];
    expect(new Set([person, first, second].map(({ accountId }) => accountId)).size).toBe(3);
    await ok(wallet.client.putSandboxPlayer({ player, fundsCents: 0n, selfExcludedUntil: new Date('2999-01-01') }));
    await ok(wallet.client.holdNextAward({ player: other }));
    expect(await charge(wallet.client, chargeOf(person, 1n))).toBe('posted');
    expect(await charge(wallet.client, chargeOf(first, 1n))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf(second, 1n))).toBe('posted');
    const { payouts } = await ok(wallet.client.payAwards({ payments: [awardOf(first, 1n), awardOf(second, 1n)] }));
    expect(payouts.map(({ status }) => status)).toEqual([PayoutStatus.PAID, PayoutStatus.HELD]);
    const balances = await Promise.all([person, first, second].map((each) => balanceOf(wallet, each)));
    expect(balances).toEqual([4_99n, 1_01n, 1_99n]);
  });
});

describe('facts of a sandbox player', () => {
  const facts = {
    email: 'Tester@Example.com',
    dateOfBirth: '2015-03-01',
    jurisdiction: 'US-NY',
    verificationLevel: 1,
    selfExcludedUntil: new Date('2030-01-01T00:00:00.000Z'),
    enforcementFlag: true,
    underInvestigation: true,
  };
  const personOf = async ({ accountId }: TestPlayer) =>
    (await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false }))).account;

  it('an update of a sandbox player changes only the facts that are sent', async () => {
    const programId = newId();
    const player = playerOf(programId);
    const tester = await make(player, 1_00n, facts);
    const known = { ...facts, email: 'tester@example.com', sandboxOnly: true, programId, blocked: false };
    expect(await personOf(tester)).toMatchObject(known);
    await make(player, 0n, { verificationLevel: 2, enforcementFlag: false });
    expect(await personOf(tester)).toMatchObject({ ...known, verificationLevel: 2, enforcementFlag: false });
    await make(player, 1_00n, { clearSelfExclusion: true, dateOfBirth: '1990-01-01', email: 'new@example.com' });
    expect(await personOf(tester)).toMatchObject({ dateOfBirth: '1990-01-01', email: 'new@example.com' });
    expect((await personOf(tester))?.selfExcludedUntil).toBeUndefined();
    expect(await balanceOf(wallet, tester)).toBe(2_00n);
  });

  it('a sandbox player without facts is a fully verified adult in California', async () => {
    expect(await personOf(await make(playerOf(newId()), 0n))).toMatchObject({
      dateOfBirth: '1990-01-01',
      jurisdiction: 'US-CA',
      verificationLevel: 3,
      selfExcludedUntil: undefined,
      enforcementFlag: false,
      underInvestigation: false,
      blocked: false,
    });
  });

  it('invalid facts of a sandbox player are refused', async () => {
    const before = await digest();
    for (const wrong of [
      { email: 'plain-text' },
      { dateOfBirth: '1990-02-30' },
      { jurisdiction: 'Mars' },
      { verificationLevel: 4 },
    ]) {
      const request = { player: playerOf(newId()), fundsCents: 1n, ...wrong };
      expect(await refusalOf(wallet.client.putSandboxPlayer(request))).toBe('invalid_request');
    }
    expect(await digest()).toEqual(before);
  });

  it('a new player_ref with the e-mail address of a sandbox account names that account', async () => {
    const programId = newId();
    const email = 'one@example.com';
    const one = await make(playerOf(programId), 1_00n, { email });
    const alias = await make(playerOf(programId), 1_00n, { email: 'ONE@example.com', verificationLevel: 1 });
    expect(alias.accountId).toBe(one.accountId);
    expect(await balanceOf(wallet, one)).toBe(2_00n);
    const other = await make(playerOf(programId), 1_00n);
    const before = await digest();
    const request = { player: other.player, fundsCents: 1_00n, email, verificationLevel: 0 };
    expect(await refusalOf(wallet.client.putSandboxPlayer(request))).toBe('conflict');
    expect(await digest()).toEqual(before);
  });

  it('concurrent calls with one e-mail address create one sandbox account', async () => {
    const programId = newId();
    const made = await Promise.all(
      Array.from({ length: 12 }, () => make(playerOf(programId), 1_00n, { email: 'crowd@example.com' })),
    );
    expect(new Set(made.map(({ accountId }) => accountId)).size).toBe(1);
    expect(await balanceOf(wallet, made[0] as TestPlayer)).toBe(12_00n);
  });
});

it('concurrent calls on two replicas create all of a program’s first accounts', async () => {
  const born = { dateOfBirth: '1990-01-01', jurisdiction: 'US-CA', verificationLevel: 1 };
  for (let times = 0; times < 60; times += 1) {
    const programId = newId();
    const firsts = Array.from({ length: 8 }, (_, index) =>
      (index % 2 === 0 ? wallet.client : replica).createAccount({ ...born, programId, email: `${newId()}@x.example` }),
    );
    expect(new Set((await Promise.all(firsts.map(ok))).map(({ account }) => account?.id)).size).toBe(8);
  }
});

describe('play money', () => {
  it('a deposit of play money is refused if it would exceed the balance limit', async () => {
    const programId = newId();
    const player = playerOf(programId);
    const before = await digest();
    for (const fundsCents of [MOST + 1n, 99_999_999_999_999n]) {
      expect(await refusalOf(wallet.client.putSandboxPlayer({ player, fundsCents }))).toBe('invalid_request');
    }
    expect(await digest()).toEqual(before);
    const rich = await make(player, MOST - 1n);
    const made = await digest();
    const more = { player, fundsCents: 2n, verificationLevel: 0 };
    expect(await refusalOf(wallet.client.putSandboxPlayer(more))).toBe('invalid_request');
    expect(await digest()).toEqual(made);
    await make(player, 1n);
    expect(await balanceOf(wallet, rich)).toBe(MOST);
    expect(await charge(wallet.client, chargeOf(rich, 7n))).toBe('posted');
    await make(player, 7n);
    expect(await balanceOf(wallet, rich)).toBe(MOST);
  });

  it('the limit of play money holds against parallel calls over two replicas', async () => {
    const player = playerOf(newId());
    const rich = await make(player);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? wallet.client : replica).putSandboxPlayer({ player, fundsCents: 3_000_00n }),
      ),
    );
    expect(answers.filter((answer) => 'accountId' in answer)).toHaveLength(3);
    expect(await balanceOf(wallet, rich)).toBe(9_000_00n);
  });

  it('a prize in play money is paid even beyond the balance limit', async () => {
    const rich = await make(playerOf(newId()), MOST);
    const payments = [awardOf(rich, 400_00n), purseOf(rich, 20_000_00n)];
    const { payouts } = await ok(wallet.client.payAwards({ payments }));
    expect(payouts.map(({ status }) => status)).toEqual([PayoutStatus.PAID, PayoutStatus.PAID]);
    expect(await balanceOf(wallet, rich)).toBe(30_400_00n);
    expect(await refusalOf(wallet.client.putSandboxPlayer({ player: rich.player, fundsCents: 1n }))).toBe(
      'invalid_request',
    );
  });

  it('play money of many programs moves in shared batches, each program’s against its own house', async () => {
    const programs = Array.from({ length: 12 }, () => newId());
    const players = await Promise.all(
      programs.flatMap((programId) => [make(playerOf(programId), 10_00n), make(playerOf(programId), 10_00n)]),
    );
    const rounds = Array.from({ length: 10 }, () => players).flat();
    await Promise.all(
      rounds.map(async (player, index) => {
        const client = index % 2 === 0 ? wallet.client : replica;
        const fee = chargeOf(player, 10n);
        expect(await charge(client, fee)).toBe('posted');
        if (index % 3 === 0) {
          await ok(client.refundFees({ refunds: [{ feeTransferId: fee.transferId, reason: 'expired' }] }));
        }
        await ok(client.payAwards({ payments: [purseOf(player, 3n)] }));
      }),
    );
    const houses = await wallet.database.query<{ house_id: string; kind: string; balance_cents: bigint }>({
      text: `select house_id, kind, balance_cents from ledger_accounts
        where kind <> 'player' and house_id in ('${programs.join("', '")}')`,
    });
    expect(houses).toHaveLength(48);
    for (const programId of programs) {
      const own = players.filter(({ player }) => player.tenant?.programId === programId);
      const balances = await Promise.all(own.map((player) => balanceOf(wallet, player)));
      const house = houses.filter((row) => row.house_id === programId);
      expect(house.reduce((sum, row) => sum + row.balance_cents, 0n)).toBe(-balances.reduce((a, b) => a + b, 0n));
      expect(house.find((row) => row.kind === 'house_purses')?.balance_cents).toBe(-60n);
      expect(house.find((row) => row.kind === 'external_cash')?.balance_cents).toBe(-20_00n);
    }
  });
});

describe('a severed pair of program and account', () => {
  const sever = ({ accountId, player }: TestPlayer) =>
    wallet.client.severPlayerLinks({ accountId, programId: player.tenant?.programId ?? '' });
  const lift = ({ accountId, player }: TestPlayer) =>
    wallet.client.liftSeverance({ accountId, programId: player.tenant?.programId ?? '' });
  const linksOf = async ({ accountId }: TestPlayer) => ok(wallet.client.listPlayerLinks({ accountId }));

  it.each([Environment.LIVE, Environment.TEST])(
    'severing a program from an account removes every link between them (%i)',
    async (environment) => {
      const person = await addPlayer(wallet, { environment, balanceCents: 5_00n });
      const { email, accountId, player } = person;
      const programId = player.tenant?.programId ?? '';
      const alias = playerOf(programId, `alias-${newId()}`, environment);
      await ok(wallet.client.putPlayerLink({ player: alias, email }));
      const links = [person.player, alias].map((named) => ({ player: named, createdAt: wallet.clock.now }));
      const listed = await linksOf(person);
      expect(listed.severances).toEqual([]);
      expect(listed.links).toHaveLength(2);
      expect(listed.links).toEqual(expect.arrayContaining(links));

      const open = chargeOf(person, 1_00n);
      expect(await charge(wallet.client, open)).toBe('posted');
      // The player pays again, so that this fee is decided on the cached player.
      const before = await countOptimisticFees();
      expect(await charge(wallet.client, chargeOf(person, 1_00n))).toBe('posted');
      expect(await countOptimisticFees()).toBe(before + 1);

      expect(await ok(sever(person))).toEqual({ severedLinks: 2 });
      const severedAt = wallet.clock.now;
      wallet.clock.advance(1_000);
      expect(await ok(sever(person))).toEqual({ severedLinks: 0 });
      expect(await linksOf(person)).toEqual({
        links: [],
        severances: [{ programId, severedAt }],
        programIds: [programId],
      });
      expect(await ok(wallet.client.resolvePlayers({ players: [player, alias] }))).toEqual({ accountIds: ['', ''] });
      expect(await ok(wallet.client.chargeFees({ charges: [chargeOf(person, 1_00n)] }))).toEqual({
        results: [{ result: { $case: 'moved', value: { accountId: '' } } }],
      });
      for (const named of [player, alias, playerOf(programId, 'new', environment)]) {
        expect(await refusalOf(wallet.client.putPlayerLink({ player: named, email }))).toBe('not_found');
        if (environment === Environment.TEST) {
          const put = wallet.client.putSandboxPlayer({ player: named, fundsCents: 1n, email });
          expect(await refusalOf(put)).toBe('not_found');
        }
      }
      // A paid attempt stays with the account, which gets the refund of the fee and the prize.
      await ok(wallet.client.refundFees({ refunds: [{ feeTransferId: open.transferId, reason: 'expired' }] }));
      await ok(wallet.client.payAwards({ payments: [awardOf(person, 2_00n)] }));
      expect(await balanceOf(wallet, person)).toBe(6_00n);

      await ok(lift(person));
      await ok(lift(person));
      expect(await linksOf(person)).toEqual({ links: [], severances: [], programIds: [programId] });
      expect(await ok(wallet.client.putPlayerLink({ player, email }))).toMatchObject({ accountId });
      expect(await charge(wallet.client, chargeOf(person, 1_00n))).toBe('posted');
    },
  );

  it('severing a pair leaves the links of other programs and other players unchanged', async () => {
    const person = await addPlayer(wallet);
    const programId = person.player.tenant?.programId ?? '';
    const elsewhere = playerOf(newId(), 'p', Environment.LIVE);
    await ok(wallet.client.putPlayerLink({ player: elsewhere, email: person.email }));
    const other = await addPlayer(wallet, { programId });
    await ok(sever(person));
    const players = [person.player, elsewhere, other.player];
    expect(await ok(wallet.client.resolvePlayers({ players }))).toEqual({
      accountIds: ['', person.accountId, other.accountId],
    });
    // A ref may still name another account.
    await ok(wallet.client.putPlayerLink({ player: person.player, email: other.email }));
    expect(await refusalOf(wallet.client.putPlayerLink({ player: other.player, email: person.email }))).toBe(
      'not_found',
    );
  });

  it('severing a pair that was never linked is not found', async () => {
    const person = await addPlayer(wallet);
    const pair = { accountId: person.accountId, programId: newId() };
    for (const { accountId, programId } of [pair, { ...pair, accountId: newId() }, { ...pair, programId: 'x' }]) {
      expect(await refusalOf(wallet.client.severPlayerLinks({ accountId, programId }))).toBe('not_found');
      expect(await refusalOf(wallet.client.liftSeverance({ accountId, programId }))).toBe('not_found');
    }
    expect(await refusalOf(wallet.client.listPlayerLinks({ accountId: newId() }))).toBe('not_found');
  });

  it('severing a pair removes every link, even one that a replica makes at the same time', async () => {
    for (let run = 0; run < 15; run += 1) {
      const person = await addPlayer(wallet);
      const programId = person.player.tenant?.programId ?? '';
      const link = (index: number) =>
        (index % 2 === 0 ? wallet.client : replica).putPlayerLink({
          player: playerOf(programId, `ref-${index}`, Environment.LIVE),
          email: person.email,
        });
      const linking = Array.from({ length: 10 }, (_, index) => link(index));
      const [severed, ...answers] = await Promise.all([
        sever(person),
        ...linking,
        ...linking.map((_, i) => link(i + 5)),
      ]);
      expect(severed).toMatchObject({ severedLinks: expect.any(Number) });
      for (const answer of answers) if ('code' in answer) expect(answer.code).toBe('not_found');
      expect((await linksOf(person)).links).toEqual([]);
    }
  });

  it('severing a pair also removes a link that is about to commit', async () => {
    const person = await addPlayer(wallet);
    const programId = person.player.tenant?.programId ?? '';
    const other = wallet.connect();
    let severing: Promise<unknown> | undefined;
    await other.transaction(async (tx) => {
      const text = `insert into player_links (program_id, environment, player_ref, account_id, created_at, house_id)
        values ('${programId}', 'live', 'late', '${person.accountId}', now(), '${LIVE_HOUSE}')`;
      await tx.query({ text });
      severing = ok(sever(person));
      const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      while ((await wallet.database.query({ text: waiting })).length === 0);
    });
    expect(await severing).toEqual({ severedLinks: 2 });
    expect((await linksOf(person)).links).toEqual([]);
  });
});

describe('constraints of the houses', () => {
  let person: TestPlayer;
  let own: TestPlayer;
  let others: TestPlayer;
  let ids: Record<string, string>;

  beforeAll(async () => {
    person = await addPlayer(wallet, { balanceCents: 5_00n });
    own = await addPlayer(wallet, { environment: Environment.TEST, balanceCents: 5_00n });
    others = await addPlayer(wallet, { environment: Environment.TEST, balanceCents: 5_00n });
    ids = {
      program: own.player.tenant?.programId ?? '',
      otherProgram: others.player.tenant?.programId ?? '',
      person: person.accountId,
      own: own.accountId,
      others: others.accountId,
      live: LIVE_HOUSE,
      shared: SHARED_SANDBOX,
      ownLedger: playerLedgerId(own.accountId, 'test'),
      liveLedger: playerLedgerId(person.accountId, 'live'),
    };
    await ok(wallet.client.severPlayerLinks({ accountId: ids.others ?? '', programId: ids.otherProgram ?? '' }));
  });

  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => `'${ids[name]}'`);
  const link = (program: string, environment: string, account: string, house: string) =>
    `with pair as (insert into program_accounts (program_id, account_id) values (${program}, ${account}) on conflict do nothing)
     insert into player_links (program_id, environment, player_ref, account_id, created_at, house_id)
     values (${program}, '${environment}', 'by hand', ${account}, now(), ${house})`;
  const row = (account: string, environment: string, house: string) =>
    `insert into ledger_accounts (id, kind, environment, account_id, house_id)
     values (gen_random_uuid(), 'player', '${environment}', ${account}, ${house})`;

  it.each([
    ['a test link to a person', link('{program}', 'test', '{person}', '{program}'), 'person_plays_with_the_house'],
    [
      'a test link that calls itself live’s',
      link('{program}', 'test', '{person}', '{live}'),
      'house_follows_environment',
    ],
    [
      'a test link to another program’s account',
      link('{program}', 'test', '{others}', '{program}'),
      'person_plays_with',
    ],
    ['a live link to a sandbox account', link('{program}', 'live', '{own}', '{live}'), 'person_plays_with_the_house'],
    ['a link of a severed pair', link('{otherProgram}', 'test', '{others}', '{otherProgram}'), 'pair_is_not_severed'],
    [
      'a link that calls itself severed',
      `update player_links set severed = true where account_id = {own}`,
      'player_links_never_severed',
    ],
    [
      'a severance of a pair with links',
      `update program_accounts set severed = true, severed_at = now() where account_id = {own}`,
      'pair_is_not_severed',
    ],
    ['a severance without its instant', `update program_accounts set severed_at = null where severed`, 'severed_iff'],
    ['play money of a person', row('{person}', 'test', '{program}'), 'ledger_accounts_person_plays_with_the_house'],
    ['real money of a sandbox account', row('{own}', 'live', '{live}'), 'ledger_accounts_'],
    ['play money in another program', row('{others}', 'test', '{program}'), 'ledger_accounts_'],
    ['a test account of live’s house', row('{person}', 'test', '{live}'), 'ledger_accounts_'],
    [
      'a second house in live',
      `insert into houses (id, environment) values (gen_random_uuid(), 'live')`,
      'one_is_live',
    ],
    [
      'a house that would share accounts with another',
      `insert into houses (id, environment)
       select (left(id, 35) || translate(right(id, 1), '0123456789abcdef', '123456789abcdef0'))::uuid, 'test'
       from (values ({program}::text)) as program (id)`,
      'houses_share_no_account',
    ],
    [
      'a second account of one kind in a house',
      `insert into ledger_accounts (id, kind, environment, house_id, may_overdraw)
       values (gen_random_uuid(), 'house_fees', 'test', {program}, true)`,
      'one_house_account_per_kind',
    ],
    [
      'one address twice in a sandbox',
      `update accounts set email = (select email from accounts where id = {own})
       where id <> {own} and house_id = {program}`,
      'accounts_house_email_key',
    ],
  ])('the database refuses %s among houses and links', async (what, text, constraint) => {
    if (what.startsWith('one address'))
      await addPlayer(wallet, { environment: Environment.TEST, programId: ids.program ?? '' });
    await expect(wallet.database.query({ text: fill(text) })).rejects.toThrow(constraint);
  });

  const ownHouse = () => houseLedgerId('external_cash', ids.program ?? '');
  const othersHouse = () => houseLedgerId('external_cash', ids.otherProgram ?? '');
  const liveHouse = houseLedgerId('external_cash', LIVE_HOUSE);
  const sharedHouse = houseLedgerId('external_cash', SHARED_SANDBOX);
  const deposit = {
    environment: `'test'`,
    house_id: '{program}',
    debit_id: () => `'${ownHouse()}'`,
    credit_id: '{ownLedger}',
    player_ledger_id: '{ownLedger}',
    amount_cents: '1',
    player_balance_after_cents: '501',
  };

  it.each([
    ['out of another program’s house', { debit_id: () => `'${othersHouse()}'` }, 'transfers_legs_follow_kind'],
    ['out of live’s house', { debit_id: () => `'${liveHouse}'` }, 'transfers_legs_follow_kind'],
    ['out of the sandbox that all shared', { debit_id: () => `'${sharedHouse}'` }, 'transfers_legs_follow_kind'],
    [
      'wholly in another program’s house',
      { house_id: '{otherProgram}', debit_id: () => `'${othersHouse()}'` },
      'transfers_player_plays_with_the_house',
    ],
    ['that calls itself live’s', { environment: `'live'` }, 'transfers_legs_follow_kind'],
    [
      'without a house',
      { house_id: 'null', debit_id: () => `'${sharedHouse}'` },
      'transfers_player_plays_with_the_house',
    ],
    ['into the sandbox that all shared', { house_id: '{shared}', debit_id: () => `'${sharedHouse}'` }, 'within_cap'],
    ['beyond the limit', { player_balance_after_cents: '1000001' }, 'transfers_deposit_within_cap'],
    [
      'beyond the limit in live',
      {
        environment: `'live'`,
        house_id: '{live}',
        debit_id: () => `'${liveHouse}'`,
        credit_id: '{liveLedger}',
        player_ledger_id: '{liveLedger}',
        player_balance_after_cents: '100000001',
      },
      'transfers_deposit_within_cap',
    ],
  ])('the database refuses a deposit %s', async (_, change, constraint) => {
    const line = { ...deposit, ...change } as Record<string, string | (() => string)>;
    const values = Object.values(line).map((value) => (typeof value === 'string' ? value : value()));
    const text = `insert into transfers (id, state, kind, reference, created_at, ${Object.keys(line).join(', ')})
      values (gen_random_uuid(), 'posted', 'deposit', gen_random_uuid()::text, now(), ${values.join(', ')})`;
    await expect(wallet.database.query({ text: fill(text) })).rejects.toThrow(constraint);
  });
});
