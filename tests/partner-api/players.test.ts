import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, startWorld, type World } from '../world.ts';

describe('POST /v1/players', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function newAccount(): Promise<string> {
    const email = `${randomUUID()}@example.com`;
    const account = { email, date_of_birth: '1990-01-01', jurisdiction: 'US-CA', verification_level: 1 };
    expectStatus(201, await world.operator.createAccount({ ...account, program_id: world.program.id }));
    return email;
  }

  test('linking a player returns the link', async () => {
    const ref = randomUUID();
    const answer = expectStatus(201, await world.partner.linkPlayer(ref, await newAccount()));
    expect(answer.body).toEqual({
      player_ref: ref,
      linked: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  test('a repeated link has the same response', async () => {
    const ref = randomUUID();
    const email = await newAccount();
    const first = expectStatus(201, await world.partner.linkPlayer(ref, email));
    const second = expectStatus(201, await world.partner.linkPlayer(ref, email));
    expect(second.text).toBe(first.text);
  });

  test('parallel links of one ref have the same response', async () => {
    const ref = randomUUID();
    const email = await newAccount();
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.partner.linkPlayer(ref, email)));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
  });

  test('a link matches the e-mail in any case', async () => {
    const email = await newAccount();
    expectStatus(201, await world.partner.linkPlayer(randomUUID(), email.toUpperCase()));
  });

  test('a link needs no Idempotency-Key', async () => {
    const email = await newAccount();
    const headers = { 'idempotency-key': 'the-same' };
    for (const ref of [randomUUID(), randomUUID()]) {
      const answer = await world.partner.send('POST', '/v1/players', { body: { player_ref: ref, email }, headers });
      expectStatus(201, answer);
      expect(answer.headers['idempotency-replayed']).toBeUndefined();
    }
  });

  test('a link to an e-mail without an account is 404', async () => {
    const before = await world.digest();
    expectError(404, 'not_found', await world.partner.linkPlayer(randomUUID(), `${randomUUID()}@example.com`));
    expect(await world.digest()).toEqual(before);
  });

  test('a ref that a test key linked has no account in live', async () => {
    const ref = randomUUID();
    expectStatus(201, await world.partner.linkPlayer(ref, await newAccount()));
    const challenge = await world.newChallenge({ environment: 'live' });
    expectError(
      402,
      'insufficient_funds',
      await world.program.live.createAttempt({ challenge_id: challenge.id, player_ref: ref }),
    );
  });

  test('another e-mail for a ref moves only the link, not an open attempt', async () => {
    const challenge = await world.newChallenge();
    const first = await world.newPlayer({ funds: '10.00' });
    const second = await world.newPlayer({ funds: '20.00' });
    const attempt = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: first.ref }),
    );
    expectStatus(201, await world.partner.linkPlayer(first.ref, second.email));
    const paid = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: first.ref }),
    );
    expect(await world.balance(first)).toBe('9.00');
    expect(await world.balance(second)).toBe('19.00');

    expectStatus(200, await world.partner.reportOutcome(attempt.body.id, { score: 100 }));
    expect(await world.balance(first)).toBe('14.00');
    expectStatus(200, await world.partner.reportOutcome(paid.body.id, { score: 100 }));
    expect(await world.balance(second)).toBe('24.00');
  });

  test('the audit finds no violation after player links', () => world.expectAuditOk());
});
