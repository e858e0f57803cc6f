import { randomUUID } from 'node:crypto';
import type { ReceiptBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { createReceiptVerifier } from './verify-receipt.ts';

describe('receipts', () => {
  let world: SharedWorld;
  const verifier = createReceiptVerifier();
  const { verify } = verifier;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    verifier[Symbol.dispose]();
  });

  async function newReceipt(score = 100, evidence: object = { frames: [1, 2, 3] }): Promise<ReceiptBody> {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const outcome = await world.partner.reportOutcome(expectStatus(201, attempt).body.id, { score, evidence });
    return expectStatus(200, await world.operator.getReceipt(expectStatus(200, outcome).body.receipt_id)).body;
  }

  test('verify offline, for wins and losses, with any evidence', async () => {
    const receipts = [
      await newReceipt(100),
      await newReceipt(1),
      await newReceipt(1e-7, { ünï: '選手', numbers: [1e21, 0.1, -0, 5e-324], nested: { b: 1, a: null } }),
      await newReceipt(50, {}),
    ];
    for (const receipt of receipts) {
      const { code, output } = await verify(receipt);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/\S/) });
    }
    const [first, second] = receipts;
    expect(first?.public_key).toBe(second?.public_key);
    expect((await verify(first ?? {}, '--public-key', first?.public_key ?? '')).code).toBe(0);
  });

  test('do not verify when any part of them was changed', async () => {
    const receipt = await newReceipt();
    const forgeries: object[] = [
      { ...receipt, receipt: { ...receipt.receipt, score: 101 } },
      { ...receipt, receipt: { ...receipt.receipt, extra: true } },
      { ...receipt, receipt: { ...receipt.receipt, evidence: { frames: [1, 2, 4] } } },
      { ...receipt, signature: Buffer.alloc(64, 7).toString('base64') },
      { ...receipt, signature: '' },
      { receipt: receipt.receipt },
      {},
    ];
    for (const forgery of forgeries) expect((await verify(forgery)).code).toBe(1);
    const stranger = (await newReceipt(1)).public_key;
    expect(stranger).toBe(receipt.public_key);
    expect((await verify(receipt, '--public-key', Buffer.alloc(44, 1).toString('base64'))).code).toBe(1);
  });

  test('say what was decided', async () => {
    const { receipt } = await newReceipt(100, { a: 1 });
    expect(receipt).toMatchObject({ score: 100, evidence: { a: 1 } });
    const text = JSON.stringify(receipt);
    for (const word of ['attempt_id', 'threshold', 'player_ref', 'challenge_id', 'recorded_at']) {
      expect(text).toContain(word);
    }
  });

  test('of an unknown id are 404', async () => {
    expectError(404, 'not_found', await world.operator.getReceipt(randomUUID()));
  });

  test('leave the audit good', () => world.expectAuditOk());
});
