import type { Attempt } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld, WITH_TIEBREAK } from '../world.ts';

// services/gateway/src/routes/v1/bad-input.test.ts tests what is refused, field by field. This file
// tests input just within the limits.
describe('odd input to the partner API', () => {
  let world: SharedWorld;
  let challengeId: string;
  let playerRef: string;
  let attemptId: string;
  let roundAttemptId: string;

  beforeAll(async () => {
    world = await joinWorld();
    challengeId = (await world.newChallenge()).id;
    playerRef = (await world.newPlayer()).ref;
    attemptId = (await create()).id;
    const entry = { tournament_round_id: (await world.newRound(WITH_TIEBREAK)).id, player_ref: playerRef };
    roundAttemptId = expectStatus(201, await world.partner.createAttempt(entry)).body.id;
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function create(metadata: Record<string, unknown> = {}): Promise<Attempt> {
    const entry = { challenge_id: challengeId, player_ref: playerRef, metadata };
    return expectStatus(201, await world.partner.createAttempt(entry)).body;
  }
  const createWith = (metadata: string) =>
    world.partner.send<Attempt>('POST', '/v1/attempts', {
      raw: `{"challenge_id":"${challengeId}","player_ref":"${playerRef}","metadata":${metadata}}`,
    });

  test('metadata of exactly 16 KiB is accepted', async () => {
    const freeCharacters = 16 * 1024 - JSON.stringify({ text: '' }).length;
    await create({ text: 'x'.repeat(freeCharacters) });
    for (const levels of [100, 1_000, 2_500]) {
      const answer = await createWith(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
      if (answer.status !== 400) {
        expectStatus(200, await world.partner.getAttempt(expectStatus(201, answer).body.id));
      }
    }
  });

  test('unusual but legal text in metadata is never a 500', async () => {
    for (const text of ['"a\\u0000b"', '"\\ud800"', '"\\u2028"', '"\\\\u0000"']) {
      const answer = await createWith(`{"text":${text}}`);
      if (answer.status === 400) continue;
      const created = expectStatus(201, answer).body;
      expect(created.metadata).toEqual({ text: JSON.parse(text) });
      expect(expectStatus(200, await world.partner.getAttempt(created.id)).body).toEqual(created);
    }
  });

  test('evidence of exactly 64 KiB is stored unchanged', async () => {
    const freeCharacters = 64 * 1024 - JSON.stringify({ text: '' }).length;
    const evidence = { text: 'x'.repeat(freeCharacters) };
    const answer = await world.partner.reportOutcome((await create()).id, { score: 1, evidence });
    const receipt = await world.operator.getReceipt(expectStatus(200, answer).body.receipt_id);
    expect(expectStatus(200, receipt).body.receipt.evidence).toEqual(evidence);
  });

  test('a report that is refused leaves its attempt open', async () => {
    for (const id of [attemptId, roundAttemptId]) {
      const raw = '{"score":1e999}';
      expectError(400, 'invalid_request', await world.partner.send('POST', `/v1/attempts/${id}/outcome`, { raw }));
      const attempt = expectStatus(200, await world.partner.getAttempt(id));
      expect(attempt.body).toMatchObject({ status: 'open', outcome: null });
    }
    await world.expectAuditOk();
  });
});
