import { randomUUID } from 'node:crypto';
import type { Attempt, Outcome } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type Player, type SharedWorld } from '../world.ts';

/**
 * Objects that a partner stores in Laurel; any reader that parses and prints them would change
 * their bytes.
 */
const OBJECTS: [string, string][] = [
  ['a seed of 64 bits', '{"seed":12345678901234567891}'],
  ['more digits than a double has', '{"a":0.1000000000000000055511151231257827,"b":[-9007199254740993]}'],
  ['numbers in other spellings', '{"a":1.0,"b":1E+2,"c":-0,"d":0.10,"e":1e-400}'],
  ['members in an order of their own, and space', '{ "z" : 1,\n\t"a" : { "10":true, "9":[ ] , "__proto__":null } }'],
  ['text spelled with escapes', '{"\\u0061":"\\/\\u00fc ü 選手 \\ud83d\\ude00 \\\\u0000"}'],
];

describe('metadata and evidence are stored byte for byte', () => {
  let world: SharedWorld;
  let challengeId: string;
  beforeAll(async () => {
    world = await joinWorld();
    challengeId = (await world.newChallenge({ daily_attempt_cap: 100, target_pass_rate: 0.002 })).id;
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const post = <Body>(path: string, raw: string, key: string = randomUUID()): Promise<Answer<Body>> =>
    world.partner.send<Body>('POST', path, { raw, headers: { 'idempotency-key': key } });

  async function openAttempt(player: Player): Promise<string> {
    return expectStatus(201, await world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref }))
      .body.id;
  }

  test.each(OBJECTS)('metadata with %s is returned unchanged in every response', async (_what, metadata) => {
    const player = await world.newPlayer();
    const round = await world.newRound();
    for (const parent of [`"challenge_id":"${challengeId}"`, `"tournament_round_id":"${round.id}"`]) {
      const raw = `{${parent},"metadata":${metadata},"player_ref":"${player.ref}"}`;
      const key = randomUUID();
      const created = expectStatus(201, await post<Attempt>('/v1/attempts', raw, key));
      expect(created.text).toContain(`,"metadata":${metadata},"outcome":null}`);
      const replayed = expectStatus(201, await post<Attempt>('/v1/attempts', raw, key));
      expect(replayed.text).toBe(created.text);
      expect(replayed.headers['idempotency-replayed']).toBe('true');
      const read = expectStatus(200, await world.partner.getAttempt(created.body.id));
      expect(read.text).toBe(created.text);
      expectStatus(200, await world.partner.reportOutcome(created.body.id, { score: 1 }));
      const settled = expectStatus(200, await world.partner.getAttempt(created.body.id));
      expect(settled.text).toContain(`,"metadata":${metadata},"outcome":{`);
    }
  });

  test.each(OBJECTS)('evidence with %s is unchanged in the signed receipt', async (_what, evidence) => {
    const player = await world.newPlayer();
    const round = await world.newRound();
    const entry = expectStatus(
      201,
      await world.partner.createAttempt({ tournament_round_id: round.id, player_ref: player.ref }),
    );
    for (const attemptId of [await openAttempt(player), entry.body.id]) {
      const answer = await post<Outcome>(`/v1/attempts/${attemptId}/outcome`, `{"score":1,"evidence":${evidence}}`);
      const receipt = expectStatus(200, await world.operator.getReceipt(expectStatus(200, answer).body.receipt_id));
      expect(receipt.body.receipt.evidence_text).toBe(evidence);
    }
  });

  test('a receipt shows every digit of a number in the evidence', async () => {
    const attemptId = await openAttempt(await world.newPlayer());
    const body = '{"score":1,"evidence":{"seed":12345678901234567891}}';
    const answer = expectStatus(200, await post<Outcome>(`/v1/attempts/${attemptId}/outcome`, body));
    const receipt = expectStatus(200, await world.operator.getReceipt(answer.body.receipt_id));
    expect(receipt.text).toContain('12345678901234567891');
    expect(receipt.text).not.toContain('12345678901234567000');
    expect(receipt.body.receipt.evidence).toBeNull();
  });

  test('evidence that is canonical JSON is in the receipt unchanged', async () => {
    const attemptId = await openAttempt(await world.newPlayer());
    const evidence = '{"inputs":[1,2.5,{"ünï":null}],"ok":true,"replay":"https://example.com/r/1"}';
    const raw = `{"score":1,"evidence":${evidence}}`;
    const answer = expectStatus(200, await post<Outcome>(`/v1/attempts/${attemptId}/outcome`, raw));
    const receipt = expectStatus(200, await world.operator.getReceipt(answer.body.receipt_id));
    expect(receipt.text).toContain(`"evidence":${evidence}`);
    expect(receipt.body.receipt).not.toHaveProperty('evidence_text');
  });

  test('reports with evidence numbers that are equal only as doubles are different reports', async () => {
    const attemptId = await openAttempt(await world.newPlayer());
    const path = `/v1/attempts/${attemptId}/outcome`;
    const key = randomUUID();
    const first = expectStatus(200, await post(path, '{"score":1,"evidence":{"seed":12345678901234567891}}', key));
    const again = await post(path, '{"evidence":{ "seed":1.2345678901234567891e19 },"score":1.0}', key);
    expect(expectStatus(200, again).text).toBe(first.text);
    const other = await post(path, '{"score":1,"evidence":{"seed":12345678901234567892}}', key);
    expectError(409, 'idempotency_key_reused', other);
  });

  test('a number beyond the range of a double is refused in metadata and evidence', async () => {
    const player = await world.newPlayer();
    const attemptId = await openAttempt(player);
    for (const number of ['1e400', '-1e400', '9'.repeat(400)]) {
      const report = `{"score":1,"evidence":{"a":[${number}]}}`;
      expectError(400, 'invalid_request', await post(`/v1/attempts/${attemptId}/outcome`, report));
      const creation = `{"challenge_id":"${challengeId}","player_ref":"${player.ref}","metadata":{"a":${number}}}`;
      expectError(400, 'invalid_request', await post('/v1/attempts', creation));
    }
  });

  test('the audit finds no violation after metadata and evidence were stored', () => world.expectAuditOk());
});
