/** An archived attempt over HTTP: what a partner, a developer and an operator still read of it. */
import { archiveAttempts, archiveRounds } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Developer, expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';

type Described = {
  readonly attempt: { readonly id: string };
  readonly evidence: unknown;
  readonly timeline: readonly unknown[];
};
type Search = { readonly data: readonly { readonly attempt_id?: string }[] };
type List = { readonly data: readonly { readonly id: string }[] };

describe('an archived attempt', () => {
  let world: SharedWorld;
  let developer: Developer;
  beforeAll(async () => {
    world = await joinWorld();
    developer = await world.newDeveloper();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const send = <Body>(path: string) => world.operator.send<Body>('GET', path);

  test('it is read by its id with its outcome, only its metadata, evidence and receipt are in the archive', async () => {
    const { program } = developer;
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    const asked = { challenge_id: challenge.id, player_ref: player.ref, metadata: { level: 3 } };
    const { id } = expectStatus(201, await program.test.createAttempt(asked)).body;
    const reported = await program.test.reportOutcome(id, { score: 100, evidence: { replay: 1 } });
    const receiptId = expectStatus(200, reported).body.receipt_id;
    await world.allAcknowledged();
    const attempt = expectStatus(200, await program.test.getAttempt(id)).body;
    const described = expectStatus(200, await send<Described>(`/attempts/${id}`)).body;
    expect(described.evidence).toEqual({ replay: 1 });

    await archiveAttempts((text, values) => world.stack.database('challenge').query(text, values), [id]);
    expect(expectStatus(200, await program.test.getAttempt(id)).body).toEqual({ ...attempt, metadata: {} });
    expect(expectStatus(200, await send<Described>(`/attempts/${id}`)).body).toEqual({
      ...described,
      metadata: {},
      evidence: null,
    });
    for (const searched of [id, receiptId])
      expect(expectStatus(200, await send<Search>(`/search?q=${searched}`)).body.data).toMatchObject([
        { attempt_id: id },
      ]);
    const list = await send<List>(`/attempts?program_id=${program.id}&environment=test`);
    expect(expectStatus(200, list).body.data.filter((line) => line.id === id)).toEqual([]);
    const ofDeveloper = await developer.portal.send('GET', `/programs/${program.id}/attempts/${id}/receipt`);
    for (const receipt of [await world.operator.getReceipt(receiptId), ofDeveloper]) {
      expectError(404, 'not_found', receipt);
      expect(receipt.text).toContain('archive');
    }
    expectError(409, 'attempt_already_settled', await program.test.reportOutcome(id, { score: 1 }));
    expectError(409, 'attempt_already_settled', await program.test.expireAttempt(id));
    expectError(409, 'conflict', await world.operator.voidAttempt(id, 'too late'));
    await world.expectAuditOk();
  });

  test('an attempt of a round is read likewise, and the leaderboard stays', async () => {
    const { program } = developer;
    const round = await world.newRound({}, program);
    const player = await world.newPlayer({ partner: program.test });
    const asked = { tournament_round_id: round.id, player_ref: player.ref, metadata: { level: 3 } };
    const { id } = expectStatus(201, await program.test.createAttempt(asked)).body;
    const reported = await program.test.reportOutcome(id, { score: 100, evidence: { replay: 1 } });
    const receiptId = expectStatus(200, reported).body.receipt_id;
    expectStatus(200, await program.test.closeRound(round.id));
    await world.allAcknowledged();
    const read = async () => ({
      attempt: expectStatus(200, await program.test.getAttempt(id)).body,
      described: expectStatus(200, await send<Described>(`/attempts/${id}`)).body,
      leaderboard: expectStatus(200, await program.test.getLeaderboard(round.id, player.ref)).body,
      found: expectStatus(200, await send<Search>(`/search?q=${receiptId}`)).body,
    });
    const before = await read();

    await archiveRounds((text, values) => world.stack.database('tournament').query(text, values), [round.id]);
    expect(await read()).toEqual({
      ...before,
      attempt: { ...before.attempt, metadata: {} },
      described: { ...before.described, metadata: {}, evidence: null },
    });
    const ofDeveloper = await developer.portal.send('GET', `/programs/${program.id}/attempts/${id}/receipt`);
    for (const receipt of [await world.operator.getReceipt(receiptId), ofDeveloper]) {
      expectError(404, 'not_found', receipt);
      expect(receipt.text).toContain('archive');
    }
    expectError(409, 'attempt_already_settled', await program.test.reportOutcome(id, { score: 1 }));
    await world.expectAuditOk();
  });
});
