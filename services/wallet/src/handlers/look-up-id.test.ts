/** The look-up of an id for an operator: which account or payout of the wallet it names. */
import { Environment, ItemKind } from '@laurel/proto/common';
import { newId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import { addPlayer, awardOf, ok, useTestWallet } from '../wallet.fixture.ts';

const wallet = useTestWallet();
const lookUp = async (id: string) => (await ok(wallet.client.lookUpId({ id }))).items;

it('a look-up of an account’s id returns the account, with the program of a sandbox account', async () => {
  const programId = newId();
  for (const environment of [Environment.LIVE, Environment.TEST]) {
    const { accountId, email } = await addPlayer(wallet, { programId, environment });
    const tenant = environment === Environment.TEST ? { programId, environment } : undefined;
    expect(await lookUp(accountId)).toEqual([
      { kind: ItemKind.ACCOUNT, tenant, accountId, attemptId: '', summary: email },
    ]);
  }
});

it('a look-up of an award’s id returns the payout with its attempt and account', async () => {
  const player = await addPlayer(wallet);
  const payment = awardOf(player, 500n);
  await ok(wallet.client.payAwards({ payments: [payment] }));
  expect(await lookUp(payment.awardId)).toEqual([
    {
      kind: ItemKind.AWARD,
      tenant: player.player.tenant,
      attemptId: payment.attemptId,
      accountId: player.accountId,
      summary: '5.00, paid',
    },
  ]);
  for (const id of [newId(), payment.attemptId]) expect(await lookUp(id)).toEqual([]);
});
