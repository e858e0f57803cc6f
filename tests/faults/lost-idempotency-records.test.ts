import { randomUUID } from 'node:crypto';
import type { Answer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { losingWritesOf } from '../lose-writes.ts';
import { expectError, expectStatus, type Player, startWorld, type World } from '../world.ts';

/**
 * The gateway's database loses acknowledged writes: it is restored to an earlier moment, as after a
 * failover to an asynchronous standby, or its idempotency records are gone. The contest services
 * still know the keys (decision 23).
 */
describe('requests that are sent again after the gateway has lost its idempotency records', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ replicas: { gateway: 2 } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const gateway = () => world.stack.database('gateway');

  /** The body of the partner's request that enters a contest. */
  type Entry = Parameters<World['partner']['createAttempt']>[0];
  type Contest = { readonly player: Player; readonly entry: Entry };
  const CONTESTS = {
    challenge: async (funds?: string): Promise<Contest> => {
      const { id } = await world.newChallenge();
      const player = await world.newPlayer(funds === undefined ? {} : { funds });
      return { player, entry: { challenge_id: id, player_ref: player.ref, metadata: { seed: 7 } } };
    },
    round: async (funds?: string): Promise<Contest> => {
      const { id } = await world.newRound();
      const player = await world.newPlayer(funds === undefined ? {} : { funds });
      return { player, entry: { tournament_round_id: id, player_ref: player.ref, metadata: { seed: 7 } } };
    },
  };
  const create = (entry: Entry, key: string) => world.partner.createAttempt(entry, key);
  const report = (attemptId: string, score: number, key: string) =>
    world.partner.reportOutcome(attemptId, { score, evidence: { replay: 'abc' } }, key);

  function expectRepetition(again: Answer<unknown>, first: Answer<unknown>): void {
    expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text });
    expect(again.headers['idempotency-replayed']).toBe('true');
  }

  const deleteRecords = () => gateway().query('delete from idempotency_records');

  const losing = <Result>(work: () => Promise<Result>) => losingWritesOf(world.stack, ['gateway'], work);

  describe.each(['challenge', 'round'] as const)('in a %s', (kind) => {
    test(`a repeated create and outcome in a ${kind} are executed once after a restore of the gateway’s database`, async () => {
      const { player, entry } = await CONTESTS[kind]();
      const [createKey, outcomeKey] = [randomUUID(), randomUUID()];
      const { attempt, outcome } = await losing(async () => {
        const created = expectStatus(201, await create(entry, createKey));
        const reported = expectStatus(200, await report(created.body.id, 120, outcomeKey));
        await world.allWritten();
        return { attempt: created, outcome: reported };
      });
      const balance = await world.balance(player);

      expectRepetition(await create(entry, createKey), attempt);
      expectRepetition(await report(attempt.body.id, 120, outcomeKey), outcome);
      // From now on the gateway has records of both keys again.
      expectRepetition(await create(entry, createKey), attempt);
      expectRepetition(await report(attempt.body.id, 120, outcomeKey), outcome);
      expect(await world.balance(player)).toBe(balance);
      await world.expectAuditOk();
    });

    test(`the gateway refuses another body under a key that was used in a ${kind}, even without its record`, async () => {
      const { player, entry } = await CONTESTS[kind]();
      const [createKey, outcomeKey] = [randomUUID(), randomUUID()];
      const attempt = expectStatus(201, await create(entry, createKey));
      const other = expectStatus(201, await create(entry, randomUUID()));
      expectStatus(200, await report(attempt.body.id, 50, outcomeKey));
      await world.allWritten();
      await deleteRecords();
      const balance = await world.balance(player);

      const reused = 'idempotency_key_reused';
      expectError(409, reused, await create({ ...entry, metadata: { seed: 8 } }, createKey));
      expectError(409, reused, await report(attempt.body.id, 51, outcomeKey));
      expectError(409, reused, await report(other.body.id, 50, outcomeKey));
      expect(await world.balance(player)).toBe(balance);
      // The refusals changed nothing.
      expectRepetition(await create(entry, createKey), attempt);
      expectStatus(200, await report(other.body.id, 50, randomUUID()));
    });

    test(`an idempotency key whose create in a ${kind} was refused can be used again even without the gateway’s record`, async () => {
      const { player, entry } = await CONTESTS[kind]('0.00');
      const key = randomUUID();
      expectError(402, 'insufficient_funds', await create(entry, key));
      await deleteRecords();
      const deposit = { environment: 'test', amount: '1.00', reference: randomUUID() } as const;
      expectStatus(201, await world.operator.deposit(player.accountId, deposit));
      const created = expectStatus(201, await create(entry, key));
      expect(created.headers['idempotency-replayed']).toBeUndefined();
      expect(await world.balance(player)).toBe('0.00');
    });

    test(`parallel creates and outcomes in a ${kind} under one key are one operation while records are being lost`, async () => {
      const { player, entry } = await CONTESTS[kind]();
      const [createKey, outcomeKey] = [randomUUID(), randomUUID()];
      const losingRecords = async (requests: Promise<unknown>[]) => {
        let isOver = false;
        const over = Promise.all(requests).finally(() => {
          isOver = true;
        });
        while (!isOver) await deleteRecords();
        await over;
      };
      const bodies = new Set<string>();
      const collect = (status: number) => (answer: Answer<unknown>) => {
        if (answer.status === status) bodies.add(answer.text);
        else expectError(409, 'idempotency_in_progress', answer);
      };
      await losingRecords(Array.from({ length: 24 }, () => create(entry, createKey).then(collect(201))));
      expect(bodies.size).toBe(1);
      expect(await world.balance(player)).toBe('99.00');

      const attempt: { id: string } = JSON.parse([...bodies][0] ?? '');
      bodies.clear();
      await losingRecords(Array.from({ length: 24 }, () => report(attempt.id, 1, outcomeKey).then(collect(200))));
      expect(bodies.size).toBe(1);
      await world.expectAuditOk();
    });
  });
});
