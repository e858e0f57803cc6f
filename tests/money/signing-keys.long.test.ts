import { randomBytes } from 'node:crypto';
import type { Outcome, SigningKeyList } from '@laurel/sdk';
import type { ReceiptBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectStatus, startWorld, type World } from '../world.ts';
import { createReceiptVerifier, readKeys } from './verify-receipt.ts';

type Key = SigningKeyList['keys'][number];

/**
 * One replica after the other gets a new seed, like in a deployment. Every signature of every
 * replica verifies, before the change, during it and afterwards.
 */
describe('rotation of signing keys', () => {
  let world: World;
  const verifier = createReceiptVerifier();
  beforeAll(async () => {
    world = await startWorld({ replicas: { challenge: 2 } });
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    verifier[Symbol.dispose]();
  });

  const newSeed = () => ({ RECEIPT_SIGNING_SEED: randomBytes(32).toString('base64') });

  async function receiptOf({ receipt_id }: Outcome): Promise<ReceiptBody> {
    return expectStatus(200, await world.operator.getReceipt(receipt_id)).body;
  }

  /** Tries to get a receipt; undefined if the service has just stopped. */
  async function tryOfChallenge(challengeId: string): Promise<ReceiptBody | undefined> {
    const player = await world.newPlayer();
    const attempt = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref });
    if (attempt.status !== 201) return undefined;
    const outcome = await world.partner.reportOutcome(attempt.body.id, { score: 1 });
    if (outcome.status !== 200) return undefined;
    const receipt = await world.operator.getReceipt(outcome.body.receipt_id);
    return receipt.status === 200 ? receipt.body : undefined;
  }
  const ofChallenge = (challengeId: string) =>
    eventually(() => tryOfChallenge(challengeId), 'the challenge service signs a receipt');

  /** Waits until the list of keys has this length, and returns it. */
  const keysWhen = (count: number) =>
    eventually(async () => {
      const { keys } = (await readKeys(world.http)).body;
      return keys.length === count ? keys : undefined;
    }, `${count} keys are listed`);
  const keyOf = (keys: readonly Key[], id: unknown): Key =>
    keys.find(({ key_id }) => key_id === id) ?? expect.fail(`the key ${id} is not listed`);

  test('every receipt and seal verifies with the list of keys during a rotation of signing keys', async () => {
    const challengeId = (await world.newChallenge()).id;
    const round = await world.newRound({ min_entrants: 1 });
    const runningOutcome = await world.playRound(round.id, await world.newPlayer(), 5);
    const settledRound = await world.newRound({ min_entrants: 1 });
    const settledOutcome = await world.playRound(settledRound.id, await world.newPlayer(), 5);
    expectStatus(200, await world.partner.closeRound(settledRound.id));
    const [first, settled] = [await ofChallenge(challengeId), await receiptOf(settledOutcome)];
    const [firstKey, ...none] = await keysWhen(1);
    expect(none).toEqual([]);
    expect(firstKey).toMatchObject({ key_id: first.receipt.key_id, until: null });
    expect(settled.receipt.key_id).toBe(first.receipt.key_id);
    const staleList = await verifier.saveKeys(world.http);

    // One of two replicas of the challenge service has a new seed; the other keeps its key, and so
    // does the tournament service.
    const challengeSeed = newSeed();
    await world.stack.restart('challenge', 0, challengeSeed);
    const both = await keysWhen(2);
    const challengeKey = both.find(({ key_id }) => key_id !== firstKey?.key_id)?.key_id ?? '';
    await world.stack.kill('challenge', 1);
    const signedNewly = await ofChallenge(challengeId);
    expect(signedNewly.receipt.key_id).toBe(challengeKey);
    await world.stack.restart('challenge', 1);
    await world.stack.kill('challenge', 0);
    const signedMeanwhile = await ofChallenge(challengeId);
    expect(signedMeanwhile.receipt.key_id).toBe(firstKey?.key_id);
    expect(Date.parse(String(signedMeanwhile.receipt.recorded_at))).toBeGreaterThan(
      Date.parse(keyOf(both, challengeKey).from),
    );

    // Every replica has a new seed.
    await world.stack.restart('challenge', 0);
    await world.stack.restart('challenge', 1, challengeSeed);
    await world.stack.restart('tournament', 0, newSeed());
    const all = await keysWhen(3);
    const tournamentKey = all.find(({ key_id }) => !both.some((known) => known.key_id === key_id)) as Key;
    const old = keyOf(all, firstKey?.key_id);
    expect(old.from).toBe(firstKey?.from);
    expect(keyOf(all, challengeKey).until).toBeNull();
    expect(tournamentKey.until).toBeNull();
    expect(Date.parse(String(old.until)) - Date.parse(tournamentKey.from)).toBe(61_000);
    expect(all.map(({ from }) => from)).toEqual(all.map(({ from }) => from).sort());

    // The receipt is signed with the old key, and counted under a seal of the new one.
    expectStatus(200, await world.partner.closeRound(round.id));
    const across = await receiptOf(runningOutcome);
    expect(across.receipt.key_id).toBe(old.key_id);
    expect(across.seal?.statement.key_id).toBe(tournamentKey.key_id);

    const last = await ofChallenge(challengeId);
    expect(last.receipt.key_id).toBe(challengeKey);
    const address = `${world.stack.baseUrl}/.well-known/laurel-keys.json`;
    for (const receipt of [first, settled, signedNewly, signedMeanwhile, across, last]) {
      const { code, output } = await verifier.verify(receipt, '--keys', address);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^VALID: /) });
    }
    const stale = await verifier.verify(last, ...staleList);
    expect(stale).toEqual({ code: 1, output: expect.stringContaining('is not among the trusted ones') });
    await world.expectAuditOk();
  }, 120_000);
});
