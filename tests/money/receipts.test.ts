import { randomUUID } from 'node:crypto';
import type { ReceiptBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { createForger, createReceiptVerifier, readKeys } from './verify-receipt.ts';

describe('receipts of challenges', () => {
  let world: SharedWorld;
  const verifier = createReceiptVerifier();
  const { verify } = verifier;
  let keys: readonly string[];
  beforeAll(async () => {
    world = await joinWorld();
    keys = await verifier.saveKeys(world.http);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    verifier[Symbol.dispose]();
  });

  async function newReceipt(
    score = 100,
    evidence: Record<string, unknown> = { frames: [1, 2, 3] },
  ): Promise<ReceiptBody> {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const outcome = await world.partner.reportOutcome(expectStatus(201, attempt).body.id, { score, evidence });
    return expectStatus(200, await world.operator.getReceipt(expectStatus(200, outcome).body.receipt_id)).body;
  }

  test('receipts of wins and losses verify offline, with any evidence', async () => {
    const receipts = [
      await newReceipt(100),
      await newReceipt(1),
      await newReceipt(1e-7, { ünï: '選手', numbers: [1e21, 0.1, -0, 5e-324], nested: { b: 1, a: null } }),
      await newReceipt(50, {}),
    ];
    for (const receipt of receipts) {
      const { code, output } = await verify(receipt, ...keys);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^VALID: /) });
    }
    const [first, second] = receipts;
    expect(first?.public_key).toBe(second?.public_key);
    expect((await verify(first ?? {}, '--public-key', first?.public_key ?? '')).code).toBe(0);
  });

  test('receipts name their key', async () => {
    const { receipt, public_key } = await newReceipt();
    const list = await readKeys(world.http);
    expect(list.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=60',
    });
    const key = list.body.keys.find(({ key_id }) => key_id === receipt.key_id);
    expect(key).toEqual({
      key_id: expect.stringMatching(/^[\w-]{43}$/),
      algorithm: 'Ed25519',
      public_key,
      from: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      until: null,
    });
    expect(Date.parse(key?.from ?? '')).toBeLessThan(Date.parse(String(receipt.recorded_at)));
  });

  test('receipts cannot be verified without a key list', async () => {
    const { code, output } = await verify(await newReceipt());
    expect(code).toBe(2);
    expect(output).toMatch(/^Nothing was checked: /);
    expect(output).not.toContain('VALID');
  });

  test('receipts that another signer made do not verify', async () => {
    const genuine = await newReceipt(1);
    const forger = createForger();
    const won = { ...genuine.receipt, score: 1000, met_threshold: true };
    const { key_id: _, ...unnamed } = won as Record<string, unknown>;
    const forgeries = [
      { receipt: won, ...forger.sign(won) },
      { receipt: unnamed, ...forger.sign(unnamed) },
      { receipt: { ...won, key_id: 'own' }, ...forger.sign({ ...won, key_id: 'own' }) },
      { receipt: won, ...forger.sign(won), public_key: genuine.public_key },
    ];
    for (const forgery of forgeries) {
      for (const trusted of [keys, ['--public-key', genuine.public_key]]) {
        const { code, output } = await verify(forgery, ...trusted);
        expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/^NOT VALID: /) });
      }
      expect((await verify(forgery)).code).toBe(2);
    }
    // With the forger's own key the signature is valid, so the forgery is realistic.
    const { receipt, signature } = forgeries[1] as (typeof forgeries)[1];
    expect((await verify({ receipt, signature }, '--public-key', forger.publicKey)).code).toBe(0);
  });

  test('receipts verify with evidence whose numbers no double can represent', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const outcome = await world.partner.send<{ receipt_id: string }>(
      'POST',
      `/v1/attempts/${expectStatus(201, attempt).body.id}/outcome`,
      { raw: '{"score":1,"evidence":{ "seed":12345678901234567891 }}', headers: { 'idempotency-key': randomUUID() } },
    );
    const receipt = expectStatus(200, await world.operator.getReceipt(expectStatus(200, outcome).body.receipt_id));
    for (const saved of [receipt.text, receipt.body]) expect((await verify(saved, ...keys)).code).toBe(0);
    const other = receipt.text.replaceAll('12345678901234567891', '12345678901234567892');
    expect((await verify(other, ...keys)).code).toBe(1);
  });

  test('receipts do not verify when any part of them was changed', async () => {
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
    for (const forgery of forgeries) expect((await verify(forgery, ...keys)).code).toBe(1);
    expect((await verify(receipt, '--public-key', createForger().publicKey)).code).toBe(1);
  });

  test('receipts contain the decision on the attempt', async () => {
    const shown = await newReceipt(100, { a: 1, ratio: 0.1 });
    expect(Object.keys(shown)).toEqual(['receipt', 'signature', 'public_key']);
    expect(Buffer.from(shown.signature, 'base64')).toHaveLength(64);
    const { receipt } = shown;
    expect(receipt).toMatchObject({ score: 100, evidence: { a: 1, ratio: 0.1 } });
    const text = JSON.stringify(receipt);
    for (const word of ['attempt_id', 'threshold', 'player_ref', 'challenge_id', 'recorded_at']) {
      expect(text).toContain(word);
    }
  });

  test('the receipt of an unknown id is 404', async () => {
    expectError(404, 'not_found', await world.operator.getReceipt(randomUUID()));
  });

  test('the audit finds no violation after receipts were read', () => world.expectAuditOk());
});
