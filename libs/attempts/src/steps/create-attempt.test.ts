import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { describe, expect, test } from 'vitest';
import type { CreationRequest, ReservedAttempt } from '../contest.ts';
import type { Requirement } from '../domain/player.ts';
import type { Wallet } from '../wallet.ts';
import { type CreateDeps, createAttempt } from './create-attempt.ts';

const requirement: Requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: false };
const creation: CreationRequest = {
  attemptId: newId(),
  tenant: { programId: newId(), environment: 'test' },
  contestId: newId(),
  playerRef: 'player',
  metadata: '{}',
  idempotencyUse: null,
};
const pendingOf = (accountId: string): ReservedAttempt => ({
  id: creation.attemptId,
  accountId,
  playerRef: 'player',
  status: 'pending',
  feeCents: cents(100n),
  createdAt: new Date('2026-11-26T12:00:00.000Z'),
  feeGeneration: 0,
  closedReason: null,
  metadata: '{}',
});

/** A wallet in which the player's link moves to the next account of the list at each charge. */
function walletOf(accountIds: readonly string[]): { wallet: Wallet; charged: string[] } {
  const charged: string[] = [];
  const wallet = {
    resolvePlayer: async () => accountIds[0],
    chargeFee: async ({ accountId }: { accountId: string }) => {
      charged.push(accountId);
      const named = accountIds[charged.length];
      return named === undefined ? { kind: 'posted' } : { kind: 'moved', accountId: named };
    },
  };
  return { wallet: wallet as unknown as Wallet, charged };
}

function depsOf(wallet: Wallet): CreateDeps {
  const opener = { isAwaited: false, openCreated: async () => true } as unknown as CreateDeps['opener'];
  return {
    contestService: 'challenge',
    wallet,
    opener,
    accounts: { get: () => null, put: () => undefined },
    contest: {
      reserve: async (_creation, { accountId }) => ({
        kind: 'written',
        attempt: pendingOf(accountId ?? ''),
        requirement,
      }),
      moveTo: async (attempt, accountId) => ({ ...attempt, accountId }),
    },
  };
}

describe('a creation whose player link moves while the fee is charged', () => {
  test('a creation whose player link moves during the charge opens the attempt for the account that paid', async () => {
    const accountIds = Array.from({ length: 20 }, () => newId());
    const { wallet, charged } = walletOf(accountIds);
    const created = await createAttempt(creation, depsOf(wallet));
    expect(charged).toEqual(accountIds);
    expect(created).toMatchObject({ status: 'open', accountId: accountIds.at(-1) });
  });

  test('a creation fails if its player link keeps moving', async () => {
    const { wallet, charged } = walletOf(Array.from({ length: 1_000 }, () => newId()));
    await expect(createAttempt(creation, depsOf(wallet))).rejects.toThrow('was moved more than');
    expect(charged.length).toBeLessThan(100);
  });
});
