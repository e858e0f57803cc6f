/** The money of a program over a period. */

import { Environment } from '@laurel/proto/common';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { LIVE_HOUSE } from '../domain/ledger.ts';
import { MAX_ACCOUNTS } from '../repository/program-money.ts';
import { addPlayer, awardOf, charge, chargeOf, ok, type TestPlayer, useTestWallet } from '../wallet.fixture.ts';

const HOUR_MS = 3_600_000;
const { LIVE, TEST } = Environment;

const wallet = useTestWallet();

const moneyOf = (programId: string, environment: Environment, since: Date) =>
  ok(wallet.client.getProgramMoney({ tenant: { programId, environment }, since }));

/** Charges a fee, and refunds it if asked to. */
async function pay(player: TestPlayer, feeCents: bigint, isRefunded = false): Promise<void> {
  const fee = chargeOf(player, feeCents);
  expect(await charge(wallet.client, fee)).toBe('posted');
  const refunds = [{ feeTransferId: fee.transferId, reason: 'voided' }];
  if (isRefunded) await ok(wallet.client.refundFees({ refunds }));
}

describe('the money of a program', () => {
  it.each([LIVE, TEST])(
    'the money of a program in environment %i is its own fees, refunds and payouts of the period',
    async (environment) => {
      const programId = newId();
      const [one, two] = [
        await addPlayer(wallet, { balanceCents: 90_00n, environment, programId }),
        await addPlayer(wallet, { balanceCents: 90_00n, environment, programId }),
      ];
      const stranger = await addPlayer(wallet, { balanceCents: 90_00n, environment });
      await pay(one, 7_00n);
      await ok(wallet.client.payAwards({ payments: [awardOf(one, 9_00n)] }));
      const since = wallet.clock.now;
      expect(await moneyOf(programId, environment, since)).toEqual({
        feesCents: 0n,
        refundsCents: 0n,
        paidCents: 0n,
        heldCents: 0n,
      });

      wallet.clock.advance(HOUR_MS);
      await pay(one, 2_00n);
      await pay(one, 3_00n, true);
      await pay(two, 5_00n);
      await pay(stranger, 11_00n);
      await ok(wallet.client.payAwards({ payments: [awardOf(two, 4_00n), awardOf(stranger, 13_00n)] }));
      await ok(
        wallet.client.updateAccount({ accountId: one.accountId, underInvestigation: true, clearSelfExclusion: false }),
      );
      await ok(wallet.client.payAwards({ payments: [awardOf(one, 6_00n)] }));
      expect(await moneyOf(programId, environment, since)).toEqual({
        feesCents: 10_00n,
        refundsCents: 3_00n,
        paidCents: 4_00n,
        heldCents: 6_00n,
      });
      const other = environment === LIVE ? TEST : LIVE;
      expect(await moneyOf(programId, other, since)).toMatchObject({ feesCents: 0n, paidCents: 0n, heldCents: 0n });
    },
  );

  it('the fees of a program with too many accounts are not summed', async () => {
    const programId = newId();
    const player = await addPlayer(wallet, { balanceCents: 90_00n, programId });
    const since = wallet.clock.now;
    wallet.clock.advance(1);
    await pay(player, 2_00n);
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 4_00n)] }));
    const addAccounts = (count: number) =>
      wallet.database.query(
        {
          text: `
with made as (
  insert into accounts (id, email, date_of_birth, jurisdiction, verification_level, created_at, house_id)
  select id, id || '@players.example', '1990-01-01', 'US-CA', 1, now(), $3
  from (select gen_random_uuid() as id from generate_series(1, $2)) as account
  returning id
)
insert into program_accounts (program_id, account_id) select $1, id from made`,
        },
        [programId, count, LIVE_HOUSE],
      );
    await addAccounts(MAX_ACCOUNTS - 1);
    expect(await moneyOf(programId, LIVE, since)).toMatchObject({ feesCents: 2_00n, paidCents: 4_00n });
    await addAccounts(1);
    expect(await moneyOf(programId, LIVE, since)).toEqual({ paidCents: 4_00n, heldCents: 0n });
  });
});
