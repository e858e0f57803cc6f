import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { FeeState } from '@laurel/proto/wallet';
import { metrics } from '@laurel/telemetry';
import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { beforeAll, describe, expect, it } from 'vitest';
import { createFeeChargeBatches, type FeeChargeBatches } from '../commits/post-fees.ts';
import { playerLedgerId } from '../domain/ledger.ts';
import {
  addPlayer,
  balanceOf,
  charge,
  chargeOf,
  chargeResultOf,
  countOptimisticFees,
  DEFAULT_LIMITS,
  ok,
  queryOf,
  type TestPlayer,
  useTestWallet,
  type WalletClient,
} from '../wallet.fixture.ts';

const wallet = useTestWallet({ SERVED_JURISDICTIONS: 'US-CA,US-NY' });
let replica: WalletClient;

beforeAll(async () => {
  replica = await wallet.startReplica();
});

describe('charging a fee', () => {
  it('a fee is charged once, however often it is requested', async () => {
    const player = await addPlayer(wallet, { balanceCents: 10_00n });
    const fee = chargeOf(player, 3_00n);
    const first = await ok(wallet.client.chargeFees({ charges: [fee] }));
    expect(first).toEqual({ results: [{ result: { $case: 'posted', value: { postedAt: wallet.clock.now } } }] });
    wallet.clock.advance(5_000);
    expect(await ok(replica.chargeFees({ charges: [fee] }))).toEqual(first);
    expect(await balanceOf(wallet, player)).toBe(7_00n);
  });

  it('ChargeFees returns one result for each charge, in the order of the charges', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const poor = await addPlayer(wallet);
    const charges = [chargeOf(player, 2_00n), chargeOf(poor, 1n), chargeOf(player, 2_00n), chargeOf(player, 2_00n)];
    const { results } = await ok(wallet.client.chargeFees({ charges }));
    expect(results.map(chargeResultOf)).toEqual(['posted', 'insufficient_funds', 'posted', 'insufficient_funds']);
  });

  it('a fee refused with insufficient_funds stays refused after a later deposit', async () => {
    const player = await addPlayer(wallet, { balanceCents: 99n });
    const fee = chargeOf(player, 1_00n);
    expect(await charge(wallet.client, fee)).toBe('insufficient_funds');
    await ok(
      wallet.client.deposit({
        accountId: player.accountId,
        environment: Environment.LIVE,
        amountCents: 50_00n,
        reference: 'later',
      }),
    );
    expect(await charge(wallet.client, fee)).toBe('insufficient_funds');
    expect(await charge(wallet.client, chargeOf(player, 1_00n))).toBe('posted');
  });

  it('a fee refused because the player_ref had no account stays refused after the ref is linked', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const unlinked = { ...player.player, playerRef: `ref-${newId()}` };
    const fee = chargeOf(player, 1_00n, { player: unlinked, accountId: '' });
    expect(await charge(wallet.client, fee)).toBe('insufficient_funds');
    await ok(wallet.client.putPlayerLink({ player: unlinked, email: player.email }));
    expect(await charge(wallet.client, { ...fee, accountId: player.accountId })).toBe('insufficient_funds');
  });

  it('a fee in one environment never uses money of the other environment', async () => {
    const sandboxed = await addPlayer(wallet, { balanceCents: 5_00n, environment: Environment.TEST });
    const { playerRef, tenant } = sandboxed.player;
    const { email } = sandboxed;
    const person = { email, dateOfBirth: '1990-01-01', jurisdiction: 'US-CA', verificationLevel: 1 };
    const { account } = await ok(wallet.client.createAccount(person));
    const live = { playerRef, tenant: { programId: tenant?.programId ?? '', environment: Environment.LIVE } };
    await ok(wallet.client.putPlayerLink({ player: live, email }));
    const fee = chargeOf(sandboxed, 1_00n, { player: live, accountId: account?.id ?? '' });
    expect(await charge(wallet.client, fee)).toBe('insufficient_funds');
    expect(await charge(wallet.client, chargeOf(sandboxed, 1_00n))).toBe('posted');
  });

  it('a fee whose charge returned moved can be posted for the new account under the same id', async () => {
    const [before, after] = [
      await addPlayer(wallet, { balanceCents: 5_00n }),
      await addPlayer(wallet, { balanceCents: 5_00n }),
    ];
    const fee = chargeOf(before, 1_00n);
    await ok(wallet.client.putPlayerLink({ player: before.player, email: after.email }));
    expect(await ok(wallet.client.chargeFees({ charges: [fee] }))).toEqual({
      results: [{ result: { $case: 'moved', value: { accountId: after.accountId } } }],
    });
    expect(await charge(wallet.client, { ...fee, accountId: after.accountId })).toBe('posted');
    expect([await balanceOf(wallet, before), await balanceOf(wallet, after)]).toEqual([5_00n, 4_00n]);
  });

  it('a call with an invalid charge fails and charges nothing', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    for (const change of [{ feeCents: 0n }, { feeCents: -5n }, { transferId: 'x' }, { attemptId: '' }]) {
      await expect(wallet.client.chargeFees({ charges: [chargeOf(player, 1_00n, change)] })).rejects.toThrow();
    }
    expect(await balanceOf(wallet, player)).toBe(5_00n);
  });

  it('a failed charge does not affect the other charges of its batch', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const paid = chargeOf(player, 1_00n);
    expect(await charge(wallet.client, paid)).toBe('posted');
    const sameAttempt = chargeOf(player, 1_00n, { attemptId: paid.attemptId, transferId: newId() });
    const other = await addPlayer(wallet, { balanceCents: 5_00n });
    const [bad, good] = await Promise.allSettled([
      wallet.client.chargeFees({ charges: [sameAttempt] }),
      charge(wallet.client, chargeOf(other, 1_00n)),
    ]);
    expect(bad.status).toBe('rejected');
    expect(good).toEqual({ status: 'fulfilled', value: 'posted' });
    expect(await balanceOf(wallet, player)).toBe(4_00n);
  });
});

describe('eligibility in the call that charges', () => {
  it.each([
    ['a self-exclusion', { selfExcludedUntil: new Date('2027-01-01T00:00:00.000Z') }],
    ['an enforcement block', { blocked: true }],
    ['an unserved jurisdiction', { jurisdiction: 'US-WA' }],
  ])('a charge is blocked after %s is set on a listed player', async (_, change) => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const requirements = [{ verificationLevel: 0, jurisdictions: [], refuseInsiders: false }];
    const chargeableCents = DEFAULT_LIMITS.feeCents;
    const eligibility = () => ok(wallet.client.checkEligibility({ player: player.player, requirements }));
    expect(await eligibility()).toEqual({ accountId: player.accountId, codes: [''], chargeableCents });

    await ok(wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, ...change }));
    expect(await eligibility()).toEqual({ accountId: player.accountId, codes: ['blocked'], chargeableCents });
    const fee = chargeOf(player, 1_00n);
    expect(await charge(wallet.client, fee)).toBe('blocked');
    expect(await charge(replica, fee)).toBe('blocked');
    expect(await balanceOf(wallet, player)).toBe(5_00n);
  });

  it('a charge is blocked under age, below the required level and in a jurisdiction that the contest does not serve', async () => {
    const child = await addPlayer(wallet, { balanceCents: 5_00n, dateOfBirth: '2012-01-01' });
    const adult = await addPlayer(wallet, { balanceCents: 5_00n });
    const demanding = { verificationLevel: 2, jurisdictions: [], refuseInsiders: false };
    const elsewhere = { verificationLevel: 0, jurisdictions: ['US-NY'], refuseInsiders: false };
    expect(await charge(wallet.client, chargeOf(child, 1_00n))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf(adult, 1_00n, { requirement: demanding }))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf(adult, 1_00n, { requirement: elsewhere }))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf(adult, 1_00n))).toBe('posted');
  });

  it('a charge to an insider is refused only in live, if the contest requires it', async () => {
    const requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: true };
    for (const [environment, expected] of [
      [Environment.LIVE, 'insider_entry'],
      [Environment.TEST, 'posted'],
    ] as const) {
      const player = await addPlayer(wallet, { balanceCents: 5_00n, environment });
      const programId = player.player.tenant?.programId ?? '';
      await ok(wallet.client.addInsider({ programId, accountId: player.accountId }));
      await ok(wallet.client.addInsider({ programId, accountId: player.accountId }));
      expect(await charge(wallet.client, chargeOf(player, 1_00n, { requirement }))).toBe(expected);
      expect(await charge(wallet.client, chargeOf(player, 1_00n))).toBe('posted');
    }
  });

  it('CheckEligibility returns an empty code for a player_ref without an account', async () => {
    const player = { tenant: { programId: newId(), environment: Environment.LIVE }, playerRef: 'unlinked' };
    const requirements = [{ verificationLevel: 3, jurisdictions: [], refuseInsiders: true }];
    expect(await ok(wallet.client.checkEligibility({ player, requirements }))).toEqual({ accountId: '', codes: [''] });
  });

  it('CheckEligibility returns one code for each requirement and the program’s chargeable amount', async () => {
    const { player, accountId } = await addPlayer(wallet);
    const level = (verificationLevel: number) => ({ verificationLevel, jurisdictions: [], refuseInsiders: false });
    const request = { player, requirements: [level(1), level(2)] };
    const chargeableCents = DEFAULT_LIMITS.feeCents;
    const answer = await ok(wallet.client.checkEligibility(request));
    expect(answer).toEqual({ accountId, codes: ['', 'blocked'], chargeableCents });
  });
});

describe('a fee of a cached player', () => {
  const strict = { verificationLevel: 1, jurisdictions: ['US-CA'], refuseInsiders: true };
  const strictCharge = (player: TestPlayer) => chargeOf(player, 1_00n, { requirement: strict });

  /** A player whom both replicas have cached. */
  async function addCached(balanceCents = 10_00n): Promise<TestPlayer> {
    const player = await addPlayer(wallet, { balanceCents: balanceCents + 2_00n });
    for (const client of [wallet.client, replica]) expect(await charge(client, strictCharge(player))).toBe('posted');
    return player;
  }

  it('a fee of a cached player has the same effect optimistically as under lock', async () => {
    const player = await addCached();
    const before = await countOptimisticFees();
    wallet.clock.advance(1_000);
    const fee = strictCharge(player);
    expect(await ok(wallet.client.chargeFees({ charges: [fee] }))).toEqual({
      results: [{ result: { $case: 'posted', value: { postedAt: wallet.clock.now } } }],
    });
    expect(await countOptimisticFees()).toBe(before + 1);
    expect(await balanceOf(wallet, player)).toBe(9_00n);
    // The two fees decided under lock and the one posted on the cache have the same effect.
    const columns = [
      'state, kind, environment, debit_id, credit_id, amount_cents, round_id, fee_transfer_id, award_id, reference, reason',
      'refusal_code',
    ].join();
    const rows = await wallet.database.query(
      {
        text: `
          select count(*) as fees, count(distinct attempt_id) as attempts, array_agg(player_balance_after_cents order by seq) as balances
          from transfers where kind = 'fee' and player_ledger_id = $1 group by ${columns}`,
      },
      [playerLedgerId(player.accountId, 'live')],
    );
    expect(rows).toEqual([{ fees: 3n, attempts: 3n, balances: [11_00n, 10_00n, 9_00n] }]);
  });

  it('fees of cached and new players in one batch are decided in order', async () => {
    const [first, second] = [await addCached(), await addCached(0n)];
    const fresh = await addPlayer(wallet, { balanceCents: 1_00n });
    const charges = [fresh, first, second, fresh, first].map(strictCharge);
    const { results } = await ok(wallet.client.chargeFees({ charges }));
    expect(results.map(chargeResultOf)).toEqual([
      'posted',
      'posted',
      'insufficient_funds',
      'insufficient_funds',
      'posted',
    ]);
  });

  it.each([
    ['a self-exclusion', 'blocked', { selfExcludedUntil: new Date('2027-01-01T00:00:00.000Z') }],
    ['an enforcement block', 'blocked', { blocked: true }],
    ['an unserved jurisdiction', 'blocked', { jurisdiction: 'US-WA' }],
    ['a jurisdiction that the contest does not serve', 'blocked', { jurisdiction: 'US-NY' }],
    ['a lower verification level', 'blocked', { verificationLevel: 0 }],
  ])('%s on a cached player refuses the fee on every replica', async (_, refusal, change) => {
    const player = await addCached();
    await ok(wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, ...change }));
    for (const client of [wallet.client, replica]) {
      const fee = strictCharge(player);
      expect(await charge(client, fee)).toBe(refusal);
      expect(await charge(client, fee)).toBe(refusal);
    }
    expect(await balanceOf(wallet, player)).toBe(10_00n);
  });

  it('a fee of a cached player is refused while the player is an insider', async () => {
    const player = await addCached();
    const insider = { programId: player.player.tenant?.programId ?? '', accountId: player.accountId };
    await ok(wallet.client.addInsider(insider));
    for (const client of [wallet.client, replica]) {
      expect(await charge(client, strictCharge(player))).toBe('insider_entry');
    }
    expect(await balanceOf(wallet, player)).toBe(10_00n);
    await ok(wallet.client.removeInsider(insider));
    for (const client of [wallet.client, replica]) expect(await charge(client, strictCharge(player))).toBe('posted');
  });

  it('a fee of a cached player returns moved if the player_ref now names another account', async () => {
    const [player, other] = [await addCached(), await addCached()];
    await ok(wallet.client.putPlayerLink({ player: player.player, email: other.email }));
    for (const client of [wallet.client, replica]) {
      const fee = strictCharge(player);
      expect(await charge(client, fee)).toBe('moved');
      expect(await charge(client, { ...fee, accountId: other.accountId })).toBe('posted');
    }
    expect([await balanceOf(wallet, player), await balanceOf(wallet, other)]).toEqual([10_00n, 8_00n]);
  });

  it('after a change of a cached player, one fee is decided under lock, and the next one optimistically', async () => {
    const player = await addCached();
    const before = await countOptimisticFees();
    const change = { accountId: player.accountId, clearSelfExclusion: false, verificationLevel: 2 };
    await ok(wallet.client.updateAccount(change));
    expect(await charge(wallet.client, strictCharge(player))).toBe('posted');
    expect(await countOptimisticFees()).toBe(before);
    expect(await charge(wallet.client, strictCharge(player))).toBe('posted');
    expect(await countOptimisticFees()).toBe(before + 1);
  });

  it('a fee of a cached player who was self-excluded meanwhile is posted once the exclusion ends', async () => {
    const player = await addCached();
    const selfExcludedUntil = new Date(wallet.clock.now.getTime() + 5_000);
    await ok(
      wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, selfExcludedUntil }),
    );
    expect(await charge(wallet.client, strictCharge(player))).toBe('blocked');
    wallet.clock.advance(5_000);
    for (let time = 0; time < 2; time += 1) expect(await charge(wallet.client, strictCharge(player))).toBe('posted');
    expect(await balanceOf(wallet, player)).toBe(8_00n);
  });

  it('a fee of a cached player is refused when another replica has charged the balance', async () => {
    const player = await addCached(1_00n);
    expect(await charge(replica, strictCharge(player))).toBe('posted');
    const fee = strictCharge(player);
    expect(await charge(wallet.client, fee)).toBe('insufficient_funds');
    expect(await charge(replica, fee)).toBe('insufficient_funds');
    expect(await balanceOf(wallet, player)).toBe(0n);
  });

  it('a fee of a cached player is posted at most once over all replicas', async () => {
    const player = await addCached();
    const fee = strictCharge(player);
    const first = await ok(wallet.client.chargeFees({ charges: [fee] }));
    wallet.clock.advance(5_000);
    const other = await addCached();
    for (const client of [wallet.client, replica]) {
      const { results } = await ok(client.chargeFees({ charges: [strictCharge(other), fee] }));
      expect(results.map(chargeResultOf)).toEqual(['posted', 'posted']);
      expect(results[1]).toEqual(first.results[0]);
    }
    expect([await balanceOf(wallet, player), await balanceOf(wallet, other)]).toEqual([9_00n, 8_00n]);
  });

  it('a fee of a cached player under an id with a tombstone is refused', async () => {
    const player = await addCached();
    const fee = strictCharge(player);
    await ok(replica.resolveFees({ queries: [queryOf(fee, true)] }));
    expect(await charge(wallet.client, fee)).toBe('internal_error');
    expect(await balanceOf(wallet, player)).toBe(10_00n);
  });
});

describe('resolving a fee', () => {
  it('ResolveFees distinguishes posted, refused and absent fees', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_00n });
    const [posted, refused, absent] = [chargeOf(player, 1_00n), chargeOf(player, 1_00n), chargeOf(player, 1_00n)];
    await charge(wallet.client, posted);
    await charge(wallet.client, refused);
    const queries = [posted, refused, absent].map((fee) => queryOf(fee, false));
    expect(await ok(wallet.client.resolveFees({ queries }))).toEqual({
      resolutions: [
        { state: FeeState.POSTED, refusalCode: '' },
        { state: FeeState.TOMBSTONE, refusalCode: 'insufficient_funds' },
        { state: FeeState.ABSENT, refusalCode: '' },
      ],
    });
    expect(await charge(wallet.client, absent)).toBe('insufficient_funds');
  });

  it('a late charge is refused after ResolveFees wrote a tombstone for the absent fee', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_00n });
    const fee = chargeOf(player, 1_00n);
    for (const client of [wallet.client, replica]) {
      expect(await ok(client.resolveFees({ queries: [queryOf(fee, true)] }))).toEqual({
        resolutions: [{ state: FeeState.TOMBSTONE, refusalCode: '' }],
      });
    }
    expect(await charge(wallet.client, fee)).toBe('internal_error');
    expect(await balanceOf(wallet, player)).toBe(1_00n);
  });

  it('ResolveFees leaves a posted fee unchanged', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_00n });
    const fee = chargeOf(player, 1_00n);
    await charge(wallet.client, fee);
    expect(await ok(wallet.client.resolveFees({ queries: [queryOf(fee, true)] }))).toEqual({
      resolutions: [{ state: FeeState.POSTED, refusalCode: '' }],
    });
  });
});

describe('concurrent charges', () => {
  it('400 parallel charges of one account take exactly its balance', async () => {
    const player = await addPlayer(wallet, { balanceCents: 102_00n });
    const clients = [wallet.client, replica];
    // From here on both replicas have the player cached.
    for (const client of clients) expect(await charge(client, chargeOf(player, 1_00n))).toBe('posted');
    const ends = await Promise.all(
      Array.from({ length: 400 }, (_, index) => charge(clients[index % 2] ?? wallet.client, chargeOf(player, 1_00n))),
    );
    expect(ends.filter((end) => end === 'posted')).toHaveLength(100);
    expect(ends.filter((end) => end === 'insufficient_funds')).toHaveLength(300);
    expect(await balanceOf(wallet, player)).toBe(0n);
  });

  it('parallel charges of one id over two replicas post one fee', async () => {
    const player = await addPlayer(wallet, { balanceCents: 100_00n });
    const fee = chargeOf(player, 1_00n);
    const ends = await Promise.all(
      Array.from({ length: 100 }, (_, index) => charge(index % 2 === 0 ? wallet.client : replica, fee)),
    );
    expect(new Set(ends)).toEqual(new Set(['posted']));
    expect(await balanceOf(wallet, player)).toBe(99_00n);
  });

  it('a charge that races its tombstone is either posted or refused, and both calls agree', async () => {
    const players = await Promise.all(Array.from({ length: 20 }, () => addPlayer(wallet, { balanceCents: 20_00n })));
    const fees = Array.from({ length: 200 }, (_, index) => chargeOf(players[index % 20] as (typeof players)[0], 1_00n));
    const outcomes = await Promise.all(
      fees.map(async (fee, index) => {
        const query = { queries: [queryOf(fee, true)] };
        const putTombstone = () => ok((index % 2 === 0 ? replica : wallet.client).resolveFees(query));
        const [end, { resolutions }] = await Promise.all([charge(wallet.client, fee), putTombstone()]);
        return [end, resolutions[0]?.state];
      }),
    );
    for (const outcome of outcomes) {
      expect([
        ['posted', FeeState.POSTED],
        ['internal_error', FeeState.TOMBSTONE],
      ]).toContainEqual(outcome);
    }
    const posted = outcomes.filter(([end]) => end === 'posted').length;
    const left = (await Promise.all(players.map((player) => balanceOf(wallet, player)))).reduce(
      (sum, cents) => sum + cents,
      0n,
    );
    expect(left).toBe(20n * 20_00n - BigInt(posted) * 1_00n);
  });

  it('optimistic and locking writes of two replicas over the same players never deadlock', async () => {
    const players = await Promise.all(Array.from({ length: 20 }, () => addPlayer(wallet, { balanceCents: 6_00n })));
    const failures: unknown[] = [];
    const rules = { minimumAgeYears: 18, servedJurisdictions: [] };
    const replicas = [wallet.connect(), wallet.connect()].map((database) =>
      createFeeChargeBatches({
        database: recordingFailures(database, failures),
        clock: () => wallet.clock.now,
        rules,
        defaults: DEFAULT_LIMITS,
      }),
    );
    const submit = (replica: FeeChargeBatches | undefined, charged: TestPlayer, verificationLevel: number) => {
      const { transferId, attemptId } = chargeOf(charged, 1_00n);
      return replica?.submit({
        transferId,
        attemptId,
        accountId: charged.accountId,
        programId: charged.player.tenant?.programId ?? '',
        environment: 'live',
        playerRef: charged.player.playerRef,
        feeCents: cents(1_00n),
        requirement: { verificationLevel, jurisdictions: [], refuseInsiders: false },
      });
    };
    // Only one replica charges these players, so once they are cached their fees never conflict.
    // Fees of the other players may conflict with the other replica's, and are then decided under
    // lock.
    const unrivalled = await Promise.all(replicas.map(() => addPlayer(wallet, { balanceCents: 6_00n })));
    const chargeUnrivalled = () =>
      Promise.all(replicas.map((replica, index) => submit(replica, unrivalled[index] as TestPlayer, 0)));
    await chargeUnrivalled();
    const before = await countOptimisticFees();
    const chargedAlone = chargeUnrivalled();
    const results = await Promise.all(
      // Every seventh fee requires verification level 3 and is refused. The player's next fee is
      // then decided under lock.
      Array.from({ length: 200 }, (_, index) =>
        submit(replicas[index % 2], players[Math.floor(index / 2) % 20] as TestPlayer, index % 7 === 0 ? 3 : 0),
      ),
    );
    const ends = results.map((result) => (result?.kind === 'refused' ? result.code : result?.kind));
    expect(ends.filter((end) => end === 'blocked')).toHaveLength(29);
    expect(ends.filter((end) => end === 'posted')).toHaveLength(120);
    expect(ends.filter((end) => end === 'insufficient_funds')).toHaveLength(51);
    for (const player of players) expect(await balanceOf(wallet, player)).toBe(0n);
    expect((await chargedAlone).map((result) => result?.kind)).toEqual(['posted', 'posted']);
    expect(failures).toEqual([]);
    expect(await countOptimisticFees()).toBeGreaterThanOrEqual(before + replicas.length);
  });

  it('four concurrent writers on overlapping accounts finish without a deadlock', async () => {
    const players = await Promise.all(Array.from({ length: 30 }, () => addPlayer(wallet, { balanceCents: 50_00n })));
    const clients = [wallet.client, replica, await wallet.startReplica(), await wallet.startReplica()];
    // PostgreSQL rolls back one transaction of each deadlock.
    const before = await rollbacks();
    const writers = clients.map(async (client, writer) => {
      for (let round = 0; round < 10; round += 1) {
        // Each writer names the players in a different order.
        const order = [...players].sort((a, b) => compareTurned(a.accountId, b.accountId, writer + round));
        const charges = order.map((player) => chargeOf(player, 10n));
        const { results } = await ok(client.chargeFees({ charges }));
        expect(results.every((result) => chargeResultOf(result) === 'posted')).toBe(true);
        const refunds = charges.map(({ transferId }) => ({ feeTransferId: transferId, reason: 'expired' }));
        if (round % 2 === 0) await ok(client.refundFees({ refunds }));
      }
    });
    await Promise.all(writers);
    expect(await rollbacks()).toBe(before);
    for (const player of players) expect(await balanceOf(wallet, player)).toBe(50_00n - 4n * 5n * 10n);
  });
});

/** Records each failed statement: a failed batch runs again and would leave no trace. */
function recordingFailures(database: Database, failures: unknown[]): Database {
  const record = (error: unknown): never => {
    failures.push(error);
    throw error;
  };
  return {
    ...database,
    transaction: (work, options) => database.transaction(work, options).catch(record),
    write: (statement, values, options) => database.write<never>(statement, values, options).catch(record),
  };
}

async function rollbacks(): Promise<number> {
  const name = 'laurel_postgres_transactions_total';
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return values.find(({ labels }) => labels.outcome === 'rolled_back')?.value ?? 0;
}

function compareTurned(a: string, b: string, turn: number): number {
  const turned = (id: string) => id.slice(-1 - (turn % 10)) + id;
  return turned(a) < turned(b) ? -1 : 1;
}
