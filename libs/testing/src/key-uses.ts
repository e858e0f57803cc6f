/**
 * Tests, for both contest services, requests that are sent again under another operation id. The
 * gateway sends such requests after it has lost its record of the idempotency key. The service
 * itself finds the operation that the key names.
 */

import type { Database } from '@laurel/postgres';
import type { KeyUse } from '@laurel/proto/common';
import { newId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import type { TestClock } from './clock.ts';
import type { TestPlayer } from './wallet.ts';

/**
 * The result of one item: the id of the attempt, the id of the receipt, or the code of the refusal.
 */
type Answer = string;

export type KeyedCreation = { readonly attemptId: string; readonly keyUse: KeyUse };
export type KeyedReport = { readonly operationId: string; readonly score: number; readonly keyUse: KeyUse };

/** A contest that a player may enter several times. */
export type Contest = {
  readonly player: TestPlayer;
  /** Sends the items in one call to one of two replicas. */
  create(creations: readonly KeyedCreation[], replica?: 0 | 1): Promise<readonly Answer[]>;
};

/** A contest service under test. The harness exists only once the file's tests run. */
export type KeyedContestService = {
  readonly harness: {
    readonly database: Database;
    readonly clock: TestClock;
    readonly server: { sweepOnce(): Promise<void> };
    balance(accountId: string): Promise<bigint>;
  };
  readonly feeCents: bigint;
  newAttemptId(): string;
  newContest(fundsCents: bigint): Promise<Contest>;
  deposit(player: TestPlayer, amountCents: bigint): Promise<void>;
  report(attemptId: string, reports: readonly KeyedReport[], replica?: 0 | 1): Promise<readonly Answer[]>;
};

const HOUR_MS = 3_600_000;
const FUNDS = 100_000n;
/** How many requests under one key run at once. */
const AT_ONCE = 24;

export function itRecognizesKeys(tested: KeyedContestService): void {
  const { harness: h } = tested;
  const keyUse = (keyId = newId(), body = 1, isFirst = true): KeyUse => ({
    keyId,
    fingerprint: Buffer.alloc(32, body),
    isFirst,
    usedAt: h.clock(),
  });
  const creation = (use: KeyUse): KeyedCreation => ({ attemptId: tested.newAttemptId(), keyUse: use });
  const report = (use: KeyUse, score = 1): KeyedReport => ({ operationId: newId(), score, keyUse: use });
  const replicaOf = (index: number) => (index % 2 === 0 ? 0 : 1);
  const spent = async ({ player }: Contest) => FUNDS - (await h.balance(player.accountId));
  const createOne = async (contest: Contest, use: KeyUse): Promise<Answer> =>
    (await contest.create([creation(use)]))[0] ?? '';
  const reportOne = async (attemptId: string, use: KeyUse): Promise<Answer> =>
    (await tested.report(attemptId, [report(use)]))[0] ?? '';

  it('a creation under a recorded key returns the recorded attempt and charges nothing', async () => {
    const contest = await tested.newContest(FUNDS);
    const use = keyUse();
    const attemptId = await createOne(contest, use);
    expect(await contest.create([creation(use)], 1)).toEqual([attemptId]);
    expect(await createOne(contest, { ...use, isFirst: false })).toBe(attemptId);
    expect(await spent(contest)).toBe(tested.feeCents);
  });

  it('a different creation under a recorded key is refused and changes nothing', async () => {
    const contest = await tested.newContest(FUNDS);
    const use = keyUse();
    const attemptId = await createOne(contest, use);
    expect(await createOne(contest, keyUse(use.keyId, 2))).toBe('idempotency_key_reused');
    expect(await createOne(contest, use)).toBe(attemptId);
    expect(await spent(contest)).toBe(tested.feeCents);
  });

  it('a different creation under a key that the gateway freed is a new attempt', async () => {
    const contest = await tested.newContest(FUNDS);
    const use = keyUse();
    const first = await createOne(contest, use);
    const second = await createOne(contest, keyUse(use.keyId, 2, false));
    expect(second).not.toBe(first);
    expect(await createOne(contest, keyUse(use.keyId, 2))).toBe(second);
    expect(await createOne(contest, use)).toBe('idempotency_key_reused');
    expect(await spent(contest)).toBe(2n * tested.feeCents);
  });

  it('a key is free again if the wallet refused the fee of its creation', async () => {
    const contest = await tested.newContest(0n);
    const use = keyUse();
    expect(await createOne(contest, use)).toBe('insufficient_funds');
    await tested.deposit(contest.player, tested.feeCents);
    const creations = [creation(use)];
    expect(await contest.create(creations)).toEqual(creations.map(({ attemptId }) => attemptId));
    expect(await h.balance(contest.player.accountId)).toBe(0n);
  });

  it('a key is free again after 24 hours', async () => {
    const contest = await tested.newContest(FUNDS);
    const [used, unused] = [keyUse(), keyUse()];
    const first = await createOne(contest, used);
    await createOne(contest, unused);
    h.clock.advance(24 * HOUR_MS - 1);
    expect(await createOne(contest, keyUse(used.keyId))).toBe(first);
    h.clock.advance(1);
    const again = await tested.newContest(FUNDS);
    const second = await createOne(again, keyUse(used.keyId));
    expect(second).not.toBe(first);
    expect(await createOne(again, keyUse(used.keyId))).toBe(second);
    await h.server.sweepOnce();
    const rows = await h.database.query<{ key_id: string }>(
      { text: 'select key_id from key_uses where key_id = any($1::uuid[])' },
      [[used.keyId, unused.keyId]],
    );
    expect(rows).toEqual([{ key_id: used.keyId }]);
  });

  it('parallel creations under one key make one attempt and one charge', async () => {
    const contest = await tested.newContest(FUNDS);
    const use = keyUse();
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        contest.create([creation(use), creation(keyUse()), creation(use)].slice(0, 1 + (index % 3)), replicaOf(index)),
      ),
    );
    const ofKey = answers.flatMap(([first, , third]) => (third === undefined ? [first] : [first, third]));
    expect(new Set(ofKey).size).toBe(1);
    expect(ofKey[0]).not.toContain('_');
    const others = answers.flatMap(([, second]) => (second === undefined ? [] : [second]));
    const attempts = others.filter((answer) => !answer.includes('_'));
    expect(await spent(contest)).toBe(tested.feeCents * BigInt(attempts.length + 1));
  });

  it('a report under a recorded key returns the recorded outcome', async () => {
    const contest = await tested.newContest(FUNDS);
    const [one, two] = [await createOne(contest, keyUse()), await createOne(contest, keyUse())];
    const use = keyUse();
    const receiptId = await reportOne(one, use);
    expect(await tested.report(one, [report(use)], 1)).toEqual([receiptId]);
    expect(await reportOne(one, keyUse(use.keyId, 2))).toBe('idempotency_key_reused');
    expect(await reportOne(two, keyUse(use.keyId, 3))).toBe('idempotency_key_reused');
    expect(await reportOne(one, keyUse())).toBe('attempt_already_settled');
    // The refusals left the other attempt open; a report under a freed key settles that attempt.
    expect(await reportOne(two, keyUse(use.keyId, 3, false))).not.toContain('_');
  });

  it('parallel reports under one key record one outcome', async () => {
    const contest = await tested.newContest(FUNDS);
    const attemptId = await createOne(contest, keyUse());
    const use = keyUse();
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        tested.report(attemptId, [report(use), report(use)].slice(index % 2), replicaOf(index)),
      ),
    );
    expect(new Set(answers.flat()).size).toBe(1);
    expect(answers[0]?.[0]).not.toContain('_');
  });
}
