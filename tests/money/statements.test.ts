import { randomUUID } from 'node:crypto';
import type { StatementBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';

describe('statements and deposits', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('statements show every movement with the balance after it, newest first', async () => {
    const challenge = await world.newChallenge({ fee: '2.00', prize: '9.00' });
    const player = await world.newPlayer({ funds: '0.00' });
    const deposit = { environment: 'test', amount: '20.00', reference: 'bank transfer 1' };
    expect(expectStatus(201, await world.operator.deposit(player.accountId, deposit)).body).toEqual({
      balance: '20.00',
      posted_before: false,
    });
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const expired = expectStatus(201, await world.partner.createAttempt(entry)).body.id;
    expectStatus(200, await world.partner.expireAttempt(expired));
    const won = expectStatus(201, await world.partner.createAttempt(entry)).body.id;
    const outcome = expectStatus(200, await world.partner.reportOutcome(won, { score: 100 }));

    const statement = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
    expect(statement.balance).toBe('27.00');
    expect(statement.data.map(({ kind, amount, balance_after }) => [kind, amount, balance_after])).toEqual([
      ['award', '9.00', '27.00'],
      ['fee', '-2.00', '18.00'],
      ['refund', '2.00', '20.00'],
      ['fee', '-2.00', '18.00'],
      ['deposit', '20.00', '20.00'],
    ]);
    const references = statement.data.map((line) => line.reference);
    expect([won, outcome.body.award?.id]).toContain(references[0]);
    expect(references[1]).toBe(won);
    expect(references[3]).toBe(expired);
    expect(references[4]).toBe('bank transfer 1');
    const other = expectStatus(200, await world.operator.statement(player.accountId, 'live')).body;
    expect(other).toMatchObject({ balance: '0.00', data: [] });
  });

  test('the pages of a statement contain every movement once', async () => {
    const player = await world.newPlayer({ funds: '0.00' });
    for (let count = 1; count <= 7; count += 1) {
      const deposit = { environment: 'test', amount: `${count}.00`, reference: `deposit ${count}` };
      expectStatus(201, await world.operator.deposit(player.accountId, deposit));
    }
    const seen: string[] = [];
    let cursor: string | null | undefined = '';
    for (let page = 0; page < 20 && typeof cursor === 'string'; page += 1) {
      const query = new URLSearchParams({ environment: 'test', limit: '3', ...(cursor && { cursor }) });
      const answer = await world.operator.send<StatementBody & { next_cursor?: string | null }>(
        'GET',
        `/accounts/${player.accountId}/statement?${query}`,
      );
      expectStatus(200, answer);
      expect(answer.body.data.length).toBeLessThanOrEqual(3);
      seen.push(...answer.body.data.map((line) => line.reference));
      cursor = answer.body.next_cursor || null;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map((count) => `deposit ${count}`));
  });

  test('a repeated deposit with the same reference changes nothing', async () => {
    const player = await world.newPlayer({ funds: '0.00' });
    const deposit = { environment: 'test', amount: '10.00', reference: 'once' };
    for (const postedBefore of [false, true]) {
      expect(expectStatus(201, await world.operator.deposit(player.accountId, deposit)).body).toEqual({
        balance: '10.00',
        posted_before: postedBefore,
      });
    }
    expect(await world.balance(player)).toBe('10.00');
    expectError(409, 'conflict', await world.operator.deposit(player.accountId, { ...deposit, amount: '11.00' }));
    expect(await world.balance(player)).toBe('10.00');
    // Each account has its own references.
    const other = await world.newPlayer({ funds: '0.00' });
    expectStatus(201, await world.operator.deposit(other.accountId, deposit));
    expect(await world.balance(other)).toBe('10.00');
  });

  test('a balance counts cents exactly, unlike floating point', async () => {
    const challenge = await world.newChallenge({ fee: '0.10' });
    const player = await world.newPlayer({ funds: '0.30' });
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    for (let count = 0; count < 3; count += 1) expectStatus(201, await world.partner.createAttempt(entry));
    expectError(402, 'insufficient_funds', await world.partner.createAttempt(entry));
    expect(await world.balance(player)).toBe('0.00');
  });

  test.each([
    ['live', '1000000.00', '999999.99'],
    ['test', '10000.00', '9999.99'],
  ] as const)('deposits in %s fill a balance up to %s, to the cent', async (environment, most, nearly) => {
    const player = await world.newPlayer({ environment, funds: '0.00' });
    const deposit = (amount: string) =>
      world.operator.deposit(player.accountId, { environment, amount, reference: randomUUID() });
    expectStatus(201, await deposit(nearly));
    for (const more of ['0.02', most, '999999999999.99']) {
      const answer = await deposit(more);
      expectError(400, 'invalid_request', answer);
      expect(answer.text).toContain(`to ${most} at the most`);
      expect(await world.balance(player, environment)).toBe(nearly);
    }
    expect(expectStatus(201, await deposit('0.01')).body).toEqual({ balance: most, posted_before: false });
    expectError(400, 'invalid_request', await deposit('0.01'));
    expect(await world.balance(player, environment)).toBe(most);
  });

  test('a deposit of play money to a person or of real money to a sandbox account is 404', async () => {
    for (const [environment, other] of [
      ['live', 'test'],
      ['test', 'live'],
    ] as const) {
      const { accountId } = await world.newPlayer({ environment });
      const deposit = { environment: other, amount: '1.00', reference: 'a' };
      expectError(404, 'not_found', await world.operator.deposit(accountId, deposit));
      const statement = expectStatus(200, await world.operator.statement(accountId, other)).body;
      expect(statement).toMatchObject({ balance: '0.00', data: [] });
    }
  });

  test('statements of and deposits to an unknown account are 404', async () => {
    const id = randomUUID();
    expectError(404, 'not_found', await world.operator.statement(id, 'test'));
    const deposit = { environment: 'test', amount: '1.00', reference: 'a' };
    expectError(404, 'not_found', await world.operator.deposit(id, deposit));
  });

  test('the ledger rejects updates and deletes of its rows', async () => {
    const { query } = world.stack.database('wallet');
    await expect(query('update transfers set amount_cents = amount_cents + 1')).rejects.toThrow();
    await expect(query('delete from transfers')).rejects.toThrow();
    await expect(query('truncate transfers cascade')).rejects.toThrow();
  });

  test('the audit finds no violation after deposits', () => world.expectAuditOk());
});
