import { newId } from '@laurel/ids';
import { cents } from '@laurel/money';
import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { FeeState } from '@laurel/proto/wallet';
import { metrics } from '@laurel/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playerLedgerId } from '../domain/ledger.ts';
import {
  addPlayer,
  auditFaults,
  balanceOf,
  charge,
  chargeOf,
  endOf,
  ok,
  openTestWallet,
  rememberedFees,
  type TestPlayer,
  type TestWallet,
  type WalletClient,
} from '../wallet.fixture.ts';
import { createFeeCharges } from './charge-fees.ts';

let wallet: TestWallet;
let replica: WalletClient;

beforeAll(async () => {
  wallet = await openTestWallet({ SERVED_JURISDICTIONS: 'US-CA,US-NY' });
  replica = await wallet.startReplica();
});

afterAll(async () => {
  expect(await auditFaults(wallet)).toEqual({});
  await wallet[Symbol.asyncDispose]();
});

describe('charging a fee', () => {
  it('takes it from the player once, however often it is asked for', async () => {
    const player = await addPlayer(wallet, { balanceCents: 10_00n });
    const fee = chargeOf(player, 3_00n);
    const first = await ok(wallet.client.chargeFees({ charges: [fee] }));
    expect(first).toEqual({ results: [{ result: { $case: 'posted', value: { postedAt: wallet.clock.now } } }] });
    wallet.clock.advance(5_000);
    expect(await ok(replica.chargeFees({ charges: [fee] }))).toEqual(first);
    expect(await balanceOf(wallet, player)).toBe(7_00n);
  });

  it('answers one result a charge, in order', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const poor = await addPlayer(wallet);
    const charges = [chargeOf(player, 2_00n), chargeOf(poor, 1n), chargeOf(player, 2_00n), chargeOf(player, 2_00n)];
    const { results } = await ok(wallet.client.chargeFees({ charges }));
    expect(results.map(endOf)).toEqual(['posted', 'insufficient_funds', 'posted', 'insufficient_funds']);
  });

  it('refuses for want of funds for ever: money that comes later does not revive the id', async () => {
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

  it('refuses a ref without an account for want of funds, and keeps refusing when it is linked', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const nobody = { ...player.player, playerRef: `ref-${newId()}` };
    const fee = chargeOf(player, 1_00n, { player: nobody, accountId: '' });
    expect(await charge(wallet.client, fee)).toBe('insufficient_funds');
    await ok(wallet.client.putPlayerLink({ player: nobody, email: player.email }));
    expect(await charge(wallet.client, { ...fee, accountId: player.accountId })).toBe('insufficient_funds');
  });

  it('never mixes test and live money', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n, environment: Environment.TEST });
    const live = {
      playerRef: player.player.playerRef,
      tenant: { programId: newId(), environment: Environment.LIVE },
    };
    await ok(wallet.client.putPlayerLink({ player: live, email: player.email }));
    expect(await charge(wallet.client, chargeOf(player, 1_00n, { player: live }))).toBe('insufficient_funds');
    expect(await charge(wallet.client, chargeOf(player, 1_00n))).toBe('posted');
  });

  it('answers moved when the ref names another account by now, and leaves the id free', async () => {
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

  it('takes a charge that its caller cannot mean for a bug, and charges nothing', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    for (const change of [{ feeCents: 0n }, { feeCents: -5n }, { transferId: 'x' }, { attemptId: '' }]) {
      await expect(wallet.client.chargeFees({ charges: [chargeOf(player, 1_00n, change)] })).rejects.toThrow();
    }
    expect(await balanceOf(wallet, player)).toBe(5_00n);
  });

  it('lets one bad charge fail and not what rides in the same batch', async () => {
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

describe('standing decides in the call that charges', () => {
  it.each([
    ['a self-exclusion', { selfExcludedUntil: new Date('2027-01-01T00:00:00.000Z') }],
    ['an enforcement block', { blocked: true }],
    ['an unserved jurisdiction', { jurisdiction: 'US-WA' }],
  ])('%s set after the player was listed is blocked, and nothing is charged', async (_, change) => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const requirements = [{ verificationLevel: 0, jurisdictions: [], refuseInsiders: false }];
    const standing = () => ok(wallet.client.checkStanding({ player: player.player, requirements }));
    expect(await standing()).toEqual({ accountId: player.accountId, codes: [''] });

    await ok(wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, ...change }));
    expect(await standing()).toEqual({ accountId: player.accountId, codes: ['blocked'] });
    const fee = chargeOf(player, 1_00n);
    expect(await charge(wallet.client, fee)).toBe('blocked');
    expect(await charge(replica, fee)).toBe('blocked');
    expect(await balanceOf(wallet, player)).toBe(5_00n);
  });

  it('blocks the under-aged, a level below the requirement and a jurisdiction that the contest does not serve', async () => {
    const child = await addPlayer(wallet, { balanceCents: 5_00n, dateOfBirth: '2012-01-01' });
    const adult = await addPlayer(wallet, { balanceCents: 5_00n });
    const demanding = { verificationLevel: 2, jurisdictions: [], refuseInsiders: false };
    const elsewhere = { verificationLevel: 0, jurisdictions: ['US-NY'], refuseInsiders: false };
    expect(await charge(wallet.client, chargeOf(child, 1_00n))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf(adult, 1_00n, { requirement: demanding }))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf(adult, 1_00n, { requirement: elsewhere }))).toBe('blocked');
    expect(await charge(wallet.client, chargeOf(adult, 1_00n))).toBe('posted');
  });

  it('refuses insiders of the program where the contest asks for it, in live only', async () => {
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

  it('knows nothing against a ref without an account', async () => {
    const player = { tenant: { programId: newId(), environment: Environment.LIVE }, playerRef: 'stranger' };
    const requirements = [{ verificationLevel: 3, jurisdictions: [], refuseInsiders: true }];
    expect(await ok(wallet.client.checkStanding({ player, requirements }))).toEqual({ accountId: '', codes: [''] });
  });
});

describe('a fee of a player who paid before', () => {
  const strict = { verificationLevel: 1, jurisdictions: ['US-CA'], refuseInsiders: true };
  const strictCharge = (player: TestPlayer) => chargeOf(player, 1_00n, { requirement: strict });

  /** Someone whom both replicas remember. */
  async function addRemembered(balanceCents = 10_00n): Promise<TestPlayer> {
    const player = await addPlayer(wallet, { balanceCents: balanceCents + 2_00n });
    for (const client of [wallet.client, replica]) expect(await charge(client, strictCharge(player))).toBe('posted');
    return player;
  }

  it('is posted on what is remembered, with the same effect', async () => {
    const player = await addRemembered();
    const before = await rememberedFees();
    wallet.clock.advance(1_000);
    const fee = strictCharge(player);
    expect(await ok(wallet.client.chargeFees({ charges: [fee] }))).toEqual({
      results: [{ result: { $case: 'posted', value: { postedAt: wallet.clock.now } } }],
    });
    expect(await rememberedFees()).toBe(before + 1);
    expect(await balanceOf(wallet, player)).toBe(9_00n);
    // All of them say the same, the two that were decided anew and the one that was not.
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

  it('shares a batch with those who are new, in order', async () => {
    const [first, second] = [await addRemembered(), await addRemembered(0n)];
    const fresh = await addPlayer(wallet, { balanceCents: 1_00n });
    const charges = [fresh, first, second, fresh, first].map(strictCharge);
    const { results } = await ok(wallet.client.chargeFees({ charges }));
    expect(results.map(endOf)).toEqual(['posted', 'posted', 'insufficient_funds', 'insufficient_funds', 'posted']);
  });

  it.each([
    ['a self-exclusion', 'blocked', { selfExcludedUntil: new Date('2027-01-01T00:00:00.000Z') }],
    ['an enforcement block', 'blocked', { blocked: true }],
    ['an unserved jurisdiction', 'blocked', { jurisdiction: 'US-WA' }],
    ['a jurisdiction that the contest does not serve', 'blocked', { jurisdiction: 'US-NY' }],
    ['a lower verification level', 'blocked', { verificationLevel: 0 }],
  ])('%s since then refuses it on every replica, and nothing is charged', async (_, refusal, change) => {
    const player = await addRemembered();
    await ok(wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, ...change }));
    for (const client of [wallet.client, replica]) {
      const fee = strictCharge(player);
      expect(await charge(client, fee)).toBe(refusal);
      expect(await charge(client, fee)).toBe(refusal);
    }
    expect(await balanceOf(wallet, player)).toBe(10_00n);
  });

  it('is refused to an insider since then', async () => {
    const player = await addRemembered();
    await ok(
      wallet.client.addInsider({ programId: player.player.tenant?.programId ?? '', accountId: player.accountId }),
    );
    for (const client of [wallet.client, replica]) {
      expect(await charge(client, strictCharge(player))).toBe('insider_entry');
    }
    expect(await balanceOf(wallet, player)).toBe(10_00n);
  });

  it('is answered moved when the ref names another account since then', async () => {
    const [player, other] = [await addRemembered(), await addRemembered()];
    await ok(wallet.client.putPlayerLink({ player: player.player, email: other.email }));
    for (const client of [wallet.client, replica]) {
      const fee = strictCharge(player);
      expect(await charge(client, fee)).toBe('moved');
      expect(await charge(client, { ...fee, accountId: other.accountId })).toBe('posted');
    }
    expect([await balanceOf(wallet, player), await balanceOf(wallet, other)]).toEqual([10_00n, 8_00n]);
  });

  it('is decided anew after a change that refuses nobody, and remembered again', async () => {
    const player = await addRemembered();
    const before = await rememberedFees();
    const change = { accountId: player.accountId, clearSelfExclusion: false, verificationLevel: 2 };
    await ok(wallet.client.updateAccount(change));
    expect(await charge(wallet.client, strictCharge(player))).toBe('posted');
    expect(await rememberedFees()).toBe(before);
    expect(await charge(wallet.client, strictCharge(player))).toBe('posted');
    expect(await rememberedFees()).toBe(before + 1);
  });

  it('waits for the end of an exclusion that is remembered', async () => {
    const player = await addRemembered();
    const selfExcludedUntil = new Date(wallet.clock.now.getTime() + 5_000);
    await ok(
      wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, selfExcludedUntil }),
    );
    expect(await charge(wallet.client, strictCharge(player))).toBe('blocked');
    wallet.clock.advance(5_000);
    for (let time = 0; time < 2; time += 1) expect(await charge(wallet.client, strictCharge(player))).toBe('posted');
    expect(await balanceOf(wallet, player)).toBe(8_00n);
  });

  it('is refused when another replica has taken the balance', async () => {
    const player = await addRemembered(1_00n);
    expect(await charge(replica, strictCharge(player))).toBe('posted');
    const fee = strictCharge(player);
    expect(await charge(wallet.client, fee)).toBe('insufficient_funds');
    expect(await charge(replica, fee)).toBe('insufficient_funds');
    expect(await balanceOf(wallet, player)).toBe(0n);
  });

  it('is posted once, whoever asks again', async () => {
    const player = await addRemembered();
    const fee = strictCharge(player);
    const first = await ok(wallet.client.chargeFees({ charges: [fee] }));
    wallet.clock.advance(5_000);
    const other = await addRemembered();
    for (const client of [wallet.client, replica]) {
      const { results } = await ok(client.chargeFees({ charges: [strictCharge(other), fee] }));
      expect(results.map(endOf)).toEqual(['posted', 'posted']);
      expect(results[1]).toEqual(first.results[0]);
    }
    expect([await balanceOf(wallet, player), await balanceOf(wallet, other)]).toEqual([9_00n, 8_00n]);
  });

  it('is refused under an id that was fenced', async () => {
    const player = await addRemembered();
    const fee = strictCharge(player);
    await ok(replica.resolveFees({ queries: [{ transferId: fee.transferId, fenceIfAbsent: true }] }));
    expect(await charge(wallet.client, fee)).toBe('internal_error');
    expect(await balanceOf(wallet, player)).toBe(10_00n);
  });
});

describe('resolving a fee', () => {
  const queryOf = (transferId: string, fenceIfAbsent: boolean) => ({ queries: [{ transferId, fenceIfAbsent }] });

  it('tells posted, refused and absent apart', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_00n });
    const [posted, refused, absent] = [chargeOf(player, 1_00n), chargeOf(player, 1_00n), chargeOf(player, 1_00n)];
    await charge(wallet.client, posted);
    await charge(wallet.client, refused);
    const queries = [posted, refused, absent].map(({ transferId }) => ({ transferId, fenceIfAbsent: false }));
    expect(await ok(wallet.client.resolveFees({ queries }))).toEqual({
      resolutions: [
        { state: FeeState.POSTED, refusalCode: '' },
        { state: FeeState.FENCED, refusalCode: 'insufficient_funds' },
        { state: FeeState.ABSENT, refusalCode: '' },
      ],
    });
    expect(await charge(wallet.client, absent)).toBe('insufficient_funds');
  });

  it('fences an absent fee, so that a late charge can never land', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_00n });
    const fee = chargeOf(player, 1_00n);
    for (const client of [wallet.client, replica]) {
      expect(await ok(client.resolveFees(queryOf(fee.transferId, true)))).toEqual({
        resolutions: [{ state: FeeState.FENCED, refusalCode: '' }],
      });
    }
    expect(await charge(wallet.client, fee)).toBe('internal_error');
    expect(await balanceOf(wallet, player)).toBe(1_00n);
  });

  it('leaves a posted fee alone', async () => {
    const player = await addPlayer(wallet, { balanceCents: 1_00n });
    const fee = chargeOf(player, 1_00n);
    await charge(wallet.client, fee);
    expect(await ok(wallet.client.resolveFees(queryOf(fee.transferId, true)))).toEqual({
      resolutions: [{ state: FeeState.POSTED, refusalCode: '' }],
    });
  });
});

describe('many at once', () => {
  it('400 parallel charges of one account take what it has and not a cent more', async () => {
    const player = await addPlayer(wallet, { balanceCents: 102_00n });
    const clients = [wallet.client, replica];
    // From here on both remember the player.
    for (const client of clients) expect(await charge(client, chargeOf(player, 1_00n))).toBe('posted');
    const ends = await Promise.all(
      Array.from({ length: 400 }, (_, index) => charge(clients[index % 2] ?? wallet.client, chargeOf(player, 1_00n))),
    );
    expect(ends.filter((end) => end === 'posted')).toHaveLength(100);
    expect(ends.filter((end) => end === 'insufficient_funds')).toHaveLength(300);
    expect(await balanceOf(wallet, player)).toBe(0n);
  });

  it('parallel charges of one id, over two replicas, are posted once and answered alike', async () => {
    const player = await addPlayer(wallet, { balanceCents: 100_00n });
    const fee = chargeOf(player, 1_00n);
    const ends = await Promise.all(
      Array.from({ length: 100 }, (_, index) => charge(index % 2 === 0 ? wallet.client : replica, fee)),
    );
    expect(new Set(ends)).toEqual(new Set(['posted']));
    expect(await balanceOf(wallet, player)).toBe(99_00n);
  });

  it('a charge that races its fence is either posted or fenced, and both sides say so', async () => {
    const players = await Promise.all(Array.from({ length: 20 }, () => addPlayer(wallet, { balanceCents: 20_00n })));
    const fees = Array.from({ length: 200 }, (_, index) => chargeOf(players[index % 20] as (typeof players)[0], 1_00n));
    const outcomes = await Promise.all(
      fees.map(async (fee, index) => {
        const query = { queries: [{ transferId: fee.transferId, fenceIfAbsent: true }] };
        const fence = () => ok((index % 2 === 0 ? replica : wallet.client).resolveFees(query));
        const [end, { resolutions }] = await Promise.all([charge(wallet.client, fee), fence()]);
        return [end, resolutions[0]?.state];
      }),
    );
    for (const outcome of outcomes) {
      expect([
        ['posted', FeeState.POSTED],
        ['internal_error', FeeState.FENCED],
      ]).toContainEqual(outcome);
    }
    const posted = outcomes.filter(([end]) => end === 'posted').length;
    const left = (await Promise.all(players.map((player) => balanceOf(wallet, player)))).reduce(
      (sum, cents) => sum + cents,
      0n,
    );
    expect(left).toBe(20n * 20_00n - BigInt(posted) * 1_00n);
  });

  it('two replicas that post on memory and anew, over the same players, never wait in a circle', async () => {
    const players = await Promise.all(Array.from({ length: 20 }, () => addPlayer(wallet, { balanceCents: 6_00n })));
    const failures: unknown[] = [];
    const rules = { minimumAgeYears: 18, servedJurisdictions: [] };
    const replicas = [wallet.connect(), wallet.connect()].map((database) =>
      createFeeCharges({ database: telling(database, failures), clock: () => wallet.clock.now, rules }),
    );
    const before = await rememberedFees();
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const { accountId, player } = players[Math.floor(index / 2) % 20] as TestPlayer;
        const { transferId, attemptId } = chargeOf(players[0] as TestPlayer, 1_00n);
        return replicas[index % 2]?.submit({
          transferId,
          attemptId,
          accountId,
          programId: player.tenant?.programId ?? '',
          environment: 'live',
          playerRef: player.playerRef,
          feeCents: cents(1_00n),
          // Every seventh is refused for its level, and whoever was refused is decided upon anew the next time.
          requirement: { verificationLevel: index % 7 === 0 ? 3 : 0, jurisdictions: [], refuseInsiders: false },
        });
      }),
    );
    const ends = results.map((result) => (result?.kind === 'refused' ? result.code : result?.kind));
    expect(ends.filter((end) => end === 'blocked')).toHaveLength(29);
    expect(ends.filter((end) => end === 'posted')).toHaveLength(120);
    expect(ends.filter((end) => end === 'insufficient_funds')).toHaveLength(51);
    for (const player of players) expect(await balanceOf(wallet, player)).toBe(0n);
    expect(failures).toEqual([]);
    expect(await rememberedFees()).toBeGreaterThan(before);
  });

  it('four writers over overlapping accounts finish without a deadlock', async () => {
    const players = await Promise.all(Array.from({ length: 30 }, () => addPlayer(wallet, { balanceCents: 50_00n })));
    const clients = [wallet.client, replica, await wallet.startReplica(), await wallet.startReplica()];
    // Whoever a deadlock is broken upon rolls back.
    const before = await rollbacks();
    const writers = clients.map(async (client, writer) => {
      for (let round = 0; round < 10; round += 1) {
        // Each writer names the players in another order.
        const order = [...players].sort((a, b) => compareTurned(a.accountId, b.accountId, writer + round));
        const charges = order.map((player) => chargeOf(player, 10n));
        const { results } = await ok(client.chargeFees({ charges }));
        expect(results.every((result) => endOf(result) === 'posted')).toBe(true);
        const refunds = charges.map(({ transferId }) => ({ feeTransferId: transferId, reason: 'expired' }));
        if (round % 2 === 0) await ok(client.refundFees({ refunds }));
      }
    });
    await Promise.all(writers);
    expect(await rollbacks()).toBe(before);
    for (const player of players) expect(await balanceOf(wallet, player)).toBe(50_00n - 4n * 5n * 10n);
  });
});

/** The database, telling what fails: a batch that failed would run again and leave no trace. */
function telling(database: Database, failures: unknown[]): Database {
  const tell = (error: unknown): never => {
    failures.push(error);
    throw error;
  };
  return {
    ...database,
    transaction: (work, options) => database.transaction(work, options).catch(tell),
    write: (statement, values, options) => database.write<never>(statement, values, options).catch(tell),
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
