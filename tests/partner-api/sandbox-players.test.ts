import { randomUUID } from 'node:crypto';
import type { ChallengeTerms } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, type Program, startWorld, type World } from '../world.ts';

describe('sandbox players of a program', () => {
  let world: World;
  let other: Program;
  beforeAll(async () => {
    world = await startWorld();
    other = await world.newProgram();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const person = { date_of_birth: '1990-01-01', jurisdiction: 'US-CA', verification_level: 1 };
  const newEmail = () => `${randomUUID()}@example.com`;

  /** The result of an attempt of the player: `played`, or the error code. */
  async function play(program: Program, playerRef: string, terms: ChallengeTerms = {}): Promise<string> {
    const challenge = await world.newChallenge(terms, program);
    const entry = { challenge_id: challenge.id, player_ref: playerRef };
    return (await program.test.createAttempt(entry)).code ?? 'played';
  }

  describe('what a test key may link', () => {
    test('a test key gets the same 404 for a person as for an unknown e-mail', async () => {
      const [plain, excluded] = [
        await world.newPlayer({ environment: 'live' }),
        await world.newPlayer({ environment: 'live' }),
      ];
      const until = { self_excluded_until: '2999-01-01T00:00:00.000Z' };
      expectStatus(200, await world.operator.updateAccount(excluded.accountId, until));
      const before = await world.digest();
      const ref = randomUUID();
      const answers = [];
      for (const email of [plain.email, excluded.email, newEmail()]) {
        const answer = await world.partner.linkPlayer(ref, email);
        expectError(404, 'not_found', answer);
        answers.push(answer.text);
      }
      expect(new Set(answers).size).toBe(1);
      expect(await world.digest()).toEqual(before);
      expect(await play(world.program, ref)).toBe('insufficient_funds');
    });

    test('linking another program’s sandbox account is 404', async () => {
      const email = newEmail();
      expectStatus(201, await other.test.createPlayer(randomUUID(), '5.00', { email }));
      for (const partner of [world.partner, world.program.live, other.live]) {
        expectError(404, 'not_found', await partner.linkPlayer(randomUUID(), email));
      }
      expectStatus(201, await other.test.linkPlayer(randomUUID(), email));
    });

    test('only the program’s test key links an account that an operator created for the program', async () => {
      const email = newEmail();
      const account = { ...person, email, program_id: world.program.id };
      const made = expectStatus(201, await world.operator.createAccount(account)).body;
      expect(made).toMatchObject({ email, program_id: world.program.id, sandbox_only: true });
      for (const partner of [other.test, world.program.live]) {
        expectError(404, 'not_found', await partner.linkPlayer(randomUUID(), email));
      }
      expectStatus(201, await world.partner.linkPlayer(randomUUID(), email));
    });
  });

  test('accounts with the same e-mail in two programs are separate', async () => {
    const email = newEmail();
    const ref = 'the same everywhere';
    const real = expectStatus(201, await world.operator.createAccount({ ...person, email })).body;
    const deposit = { environment: 'live', amount: '50.00', reference: 'a' };
    expectStatus(201, await world.operator.deposit(real.id, deposit));
    expectStatus(201, await world.program.live.linkPlayer(ref, email));
    expectStatus(201, await world.partner.createPlayer(ref, '10.00', { email }));
    expectStatus(201, await other.test.createPlayer(ref, '20.00', { email }));

    // Holds, exclusions and money of one account do not affect another.
    expectStatus(204, await world.partner.holdNextAward(ref));
    const outcomeOf = async (program: Program) => {
      const challenge = await world.newChallenge({}, program);
      const entry = { challenge_id: challenge.id, player_ref: ref };
      const { id } = expectStatus(201, await program.test.createAttempt(entry)).body;
      return expectStatus(200, await program.test.reportOutcome(id, { score: 100 })).body.award;
    };
    expect(await outcomeOf(other)).toMatchObject({ payout_status: 'paid' });
    expect(await outcomeOf(world.program)).toMatchObject({ payout_status: 'held' });
    const excluded = { self_excluded_until: '2999-01-01T00:00:00.000Z' };
    expectStatus(201, await world.partner.createPlayer(ref, undefined, excluded));
    expect(await play(world.program, ref)).toBe('blocked');
    expect(await play(other, ref, { fee: '24.00' })).toBe('played');
    expect(await play(other, ref, { fee: '0.01' })).toBe('insufficient_funds');
    expect(expectStatus(200, await world.operator.statement(real.id, 'live')).body.balance).toBe('50.00');
    const live = await world.newChallenge({ environment: 'live' });
    expectStatus(201, await world.program.live.createAttempt({ challenge_id: live.id, player_ref: ref }));
  });

  test('a partner can set the facts of a sandbox player in any call', async () => {
    const ref = randomUUID();
    const young = { date_of_birth: '2015-01-01', verification_level: 1, jurisdiction: 'US-NY' };
    expectStatus(201, await world.partner.createPlayer(ref, '5.00', young));
    expect(await play(world.program, ref)).toBe('blocked');
    expectStatus(201, await world.partner.createPlayer(ref, undefined, { date_of_birth: '1990-01-01' }));
    expect(await play(world.program, ref)).toBe('played');
    expect(await play(world.program, ref, { required_verification_level: 2 })).toBe('blocked');
    expectStatus(201, await world.partner.createPlayer(ref, undefined, { verification_level: 2 }));
    expect(await play(world.program, ref, { required_verification_level: 2 })).toBe('played');
    const until = '2999-01-01T00:00:00+02:00';
    expectStatus(201, await world.partner.createPlayer(ref, undefined, { self_excluded_until: until }));
    expect(await play(world.program, ref)).toBe('blocked');
    expectStatus(201, await world.partner.createPlayer(ref, undefined, { self_excluded_until: null }));
    expect(await play(world.program, ref)).toBe('played');
    for (const flag of ['enforcement_flag', 'under_investigation']) {
      expectStatus(201, await world.partner.createPlayer(ref, undefined, { [flag]: true }));
      const challenge = await world.newChallenge();
      const entry = { challenge_id: challenge.id, player_ref: ref };
      const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
      const won = expectStatus(200, await world.partner.reportOutcome(id, { score: 100 })).body;
      expect(won.award).toMatchObject({ payout_status: 'held' });
      expectStatus(201, await world.partner.createPlayer(ref, undefined, { [flag]: false }));
    }
  });

  test('sandbox players with one e-mail share an account', async () => {
    const email = newEmail();
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    expectStatus(201, await world.partner.createPlayer(first, '1.00', { email }));
    expectStatus(201, await world.partner.createPlayer(second, '1.00', { email: email.toUpperCase() }));
    expect(await play(world.program, first, { fee: '2.00' })).toBe('played');
    expectStatus(201, await world.partner.createPlayer(third, '1.00'));
    expectError(409, 'conflict', await world.partner.createPlayer(third, '1.00', { email }));
    expect(await play(world.program, third, { fee: '1.01' })).toBe('insufficient_funds');
  });

  test.each([
    ['a date that is none', { date_of_birth: '1990-02-30' }],
    ['a date to come', { date_of_birth: '2999-01-01' }],
    ['a verification level of 4', { verification_level: 4 }],
    ['an e-mail that is none', { email: 'nonsense' }],
    ['a jurisdiction that is none', { jurisdiction: 'Mars' }],
    ['an instant that is none', { self_excluded_until: 'soon' }],
    ['an instant beyond the year 9999', { self_excluded_until: '9999-12-31T23:59:59-05:00' }],
    ['an instant before 1900', { self_excluded_until: '1899-12-31T23:59:59.999Z' }],
    ['a date before 1900', { date_of_birth: '1899-12-31' }],
    ['a flag that is none', { enforcement_flag: 'yes' }],
    ['a null flag', { under_investigation: null }],
  ])('a sandbox player with %s is refused and not created', async (_what, facts) => {
    const body = { player_ref: randomUUID(), funds: '1.00', ...facts };
    const before = await world.digest();
    expectError(400, 'invalid_request', await world.partner.send('POST', '/api/sandbox/players', { body }));
    expect(await world.digest()).toEqual(before);
  });

  describe('funds of sandbox players', () => {
    test('funds that take the balance above 10000.00 are a 400 that changes nothing', async () => {
      const before = await world.digest();
      const ref = randomUUID();
      const greedy = ['999999999999.99', '10000.01', '1000000.00'];
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) => world.partner.createPlayer(ref, greedy[index % 3])),
      );
      for (const answer of answers) expectError(400, 'invalid_request', answer);
      expect(answers[0]?.text).toContain('to 10000.00 at the most');
      expect(await world.digest()).toEqual(before);
    });

    test('funds fill a balance up to 10000.00', async () => {
      const ref = randomUUID();
      expectStatus(201, await world.partner.createPlayer(ref, '9999.99'));
      expectError(400, 'invalid_request', await world.partner.createPlayer(ref, '0.02'));
      expectStatus(201, await world.partner.createPlayer(ref, '0.01'));
      expectError(400, 'invalid_request', await world.partner.createPlayer(ref, '0.01', { verification_level: 0 }));
      expect(await play(world.program, ref, { fee: '10.00', required_verification_level: 3 })).toBe('played');
      expectStatus(201, await world.partner.createPlayer(ref, '10.00'));
      expectError(400, 'invalid_request', await world.partner.createPlayer(ref, '0.01'));
      expectStatus(201, await other.test.createPlayer(ref, '10000.00'));
      expectStatus(201, await world.partner.createPlayer(randomUUID(), '10000.00'));
    });

    test('funds of one program are posted against its own house only', async () => {
      const program = await world.newProgram();
      const houses = () =>
        world.stack
          .database('wallet')
          .query<{ house_id: string; cash: string }>(
            `select house_id, balance_cents::text as cash from ledger_accounts where kind = 'external_cash' order by house_id`,
          );
      expectStatus(201, await program.test.createPlayer(randomUUID()));
      const before = await houses();
      for (let count = 0; count < 3; count += 1) {
        expectStatus(201, await program.test.createPlayer(randomUUID(), '10000.00'));
      }
      const changed = (await houses()).filter((row, index) => row.cash !== before[index]?.cash);
      expect(changed).toEqual([{ house_id: program.id, cash: '-3000000' }]);
    });
  });

  test('the audit finds no violation after sandbox players were created', () => world.expectAuditOk());
});
