import type { Attempt } from '@laurel/sdk';
import type { Service } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, type Player, startWorld, type World } from '../world.ts';

/** The services that audit themselves continuously. */
const AUDITED = ['wallet', 'challenge', 'tournament', 'gateway'] as const;

/**
 * An audit that is always good proves nothing: these tests damage the rows in every possible way,
 * and the audit must report each damage.
 */
describe('the money audit, GET /api/operator/audit', () => {
  let world: World;
  let challengeId: string;
  beforeAll(async () => {
    const everySecond = { AUDIT_INTERVAL_SECONDS: '1' };
    world = await startWorld({ environment: Object.fromEntries(AUDITED.map((service) => [service, everySecond])) });
    challengeId = (await world.newChallenge()).id;
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function violations(): Promise<Record<string, number>> {
    const { body } = expectStatus(200, await world.operator.audit());
    expect(body.ok).toBe(body.checks.every((check) => check.violations === 0));
    expect(body.live_ok).toBe(body.checks.every((check) => check.violations_by_environment.live === 0));
    for (const { violations: all, violations_by_environment: by } of body.checks) expect(by.live + by.test).toBe(all);
    expect(new Set(body.checks.map((check) => check.id)).size).toBe(body.checks.length);
    for (const check of body.checks) expect(check.description).toMatch(/\S+ \S+/);
    return Object.fromEntries(body.checks.map((check) => [check.id, check.violations]));
  }

  /** Damages rows as no service can: without triggers and foreign keys. */
  async function damage(service: Service, statement: string): Promise<void> {
    await world.stack
      .database(service)
      .query(`begin; set local session_replication_role = replica; ${statement}; commit`);
  }

  async function play(score?: number): Promise<{ player: Player; attempt: Attempt }> {
    const player = await world.newPlayer();
    const attempt = expectStatus(
      201,
      await world.partner.createAttempt({ challenge_id: challengeId, player_ref: player.ref }),
    ).body;
    if (score !== undefined) expectStatus(200, await world.partner.reportOutcome(attempt.id, { score }));
    // The audit checks attempts with the status open, which is written after the response.
    await world.allWritten();
    await world.expectAuditOk();
    return { player, attempt };
  }

  test('the audit finds no violation while players win and lose, attempts expire and payouts are held', async () => {
    await play(100);
    await play(1);
    await play();
    const { attempt } = await play();
    expectStatus(200, await world.partner.expireAttempt(attempt.id));
    const held = await world.newPlayer();
    expectStatus(204, await world.partner.holdNextAward(held.ref));
    const won = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: held.ref });
    expectStatus(200, await world.partner.reportOutcome(won.body.id, { score: 100 }));
    await world.expectAuditOk();
  });

  const LEDGER_OF = (player: Player) => `(select id from ledger_accounts where account_id = '${player.accountId}')`;

  /** The damage and its repair, so that the next damage is reported alone. */
  const DAMAGES: readonly {
    what: string;
    score?: number;
    service: Service;
    harm: (player: Player, attempt: Attempt) => string;
    undo: (player: Player, attempt: Attempt) => string;
  }[] = [
    {
      what: 'a cent from nowhere',
      service: 'wallet',
      harm: (player) =>
        `update ledger_accounts set balance_cents = balance_cents + 1 where account_id = '${player.accountId}'`,
      undo: (player) =>
        `update ledger_accounts set balance_cents = balance_cents - 1 where account_id = '${player.accountId}'`,
    },
    {
      what: 'a fee that vanished, its balances corrected',
      service: 'wallet',
      harm: (player, { id }) => `
        create table if not exists removed as select * from transfers where false;
        with gone as (delete from transfers where attempt_id = '${id}' and kind = 'fee' returning *)
          insert into removed select * from gone;
        update ledger_accounts set balance_cents = balance_cents + 100 where id = ${LEDGER_OF(player)};
        update ledger_accounts set balance_cents = balance_cents - 100 where kind = 'house_fees' and house_id = '${world.program.id}'`,
      undo: (player, { id }) => `
        with back as (delete from removed where attempt_id = '${id}' returning *)
          insert into transfers overriding system value select * from back;
        update ledger_accounts set balance_cents = balance_cents - 100 where id = ${LEDGER_OF(player)};
        update ledger_accounts set balance_cents = balance_cents + 100 where kind = 'house_fees' and house_id = '${world.program.id}'`,
    },
    {
      what: 'an attempt that vanished after its fee was paid',
      service: 'challenge',
      harm: (_player, { id }) => `
        create table if not exists removed as select * from attempts where false;
        with gone as (delete from attempts where id = '${id}' returning *) insert into removed select * from gone`,
      undo: (_player, { id }) =>
        `with back as (delete from removed where id = '${id}' returning *) insert into attempts select * from back`,
    },
    {
      what: 'an expired attempt that was never refunded',
      service: 'challenge',
      harm: (_player, { id }) => `update attempts set status = 'expired' where id = '${id}'`,
      undo: (_player, { id }) => `update attempts set status = 'open' where id = '${id}'`,
    },
    {
      what: 'a fee of another amount than its attempt has',
      service: 'challenge',
      harm: (_player, { id }) => `update attempts set fee_cents = fee_cents + 1 where id = '${id}'`,
      undo: (_player, { id }) => `update attempts set fee_cents = fee_cents - 1 where id = '${id}'`,
    },
    {
      what: 'a settled attempt without its outcome',
      score: 1,
      service: 'challenge',
      harm: (_player, { id }) => `
        create table if not exists lost as select * from outcomes where false;
        with gone as (delete from outcomes where attempt_id = '${id}' returning *) insert into lost select * from gone`,
      undo: (_player, { id }) =>
        `with back as (delete from lost where attempt_id = '${id}' returning *) insert into outcomes select * from back`,
    },
    {
      what: 'a win without an award',
      score: 100,
      service: 'challenge',
      harm: (_player, { id }) => `
        create table if not exists unpaid as select * from awards where false;
        with gone as (delete from awards where attempt_id = '${id}' returning *) insert into unpaid select * from gone`,
      undo: (_player, { id }) =>
        `with back as (delete from unpaid where attempt_id = '${id}' returning *) insert into awards select * from back`,
    },
    {
      what: 'a prize of another amount than was won',
      score: 100,
      service: 'wallet',
      harm: (_player, { id }) => `update payouts set amount_cents = amount_cents + 1 where attempt_id = '${id}'`,
      undo: (_player, { id }) => `update payouts set amount_cents = amount_cents - 1 where attempt_id = '${id}'`,
    },
    {
      what: 'a loss that was turned into a win',
      score: 1,
      service: 'challenge',
      harm: (_player, { id }) => `update outcomes set met_threshold = true where attempt_id = '${id}'`,
      undo: (_player, { id }) => `update outcomes set met_threshold = false where attempt_id = '${id}'`,
    },
  ];

  test.each(DAMAGES)('the audit reports $what', async ({ score, service, harm, undo }) => {
    const { player, attempt } = await play(score);
    await damage(service, harm(player, attempt));
    const broken = Object.entries(await violations()).filter(([, count]) => count > 0);
    expect(broken).not.toEqual([]);
    // The damage concerns play money.
    expect((await world.operator.audit()).body.live_ok).toBe(true);
    await damage(service, undo(player, attempt));
    await world.expectAuditOk();
  });

  describe('the money audit of rounds', () => {
    interface Ended {
      roundId: string;
      attemptId: string;
      accountId: string;
    }
    let ended: Ended;
    beforeAll(async () => {
      const round = await world.newRound();
      const [winner, second] = [await world.newPlayer(), await world.newPlayer()];
      const won = await world.playRound(round.id, winner, 20);
      await world.playRound(round.id, second, 10);
      expectStatus(200, await world.partner.closeRound(round.id));
      ended = { roundId: round.id, attemptId: won.attempt_id, accountId: winner.accountId };
    });

    /** Moves a table's matching rows aside, and back. */
    const away = (table: string, condition: string) => `
      create table if not exists taken_${table} as select * from ${table} where false;
      with gone as (delete from ${table} where ${condition} returning *) insert into taken_${table} select * from gone`;
    const back = (table: string) =>
      `with kept as (delete from taken_${table} returning *) insert into ${table} select * from kept`;

    const ROUND_DAMAGES: readonly {
      what: string;
      service?: Service;
      harm: (ended: Ended) => string;
      undo: (ended: Ended) => string;
    }[] = [
      {
        what: 'an entry that vanished after its fee was paid',
        harm: ({ attemptId }) => away('attempts', `id = '${attemptId}'`),
        undo: () => back('attempts'),
      },
      {
        what: 'a voided entry that was never refunded',
        harm: ({ attemptId }) => `update attempts set status = 'voided', closed_reason = 'x' where id = '${attemptId}'`,
        undo: ({ attemptId }) =>
          `update attempts set status = 'settled', closed_reason = null where id = '${attemptId}'`,
      },
      {
        what: 'a fee of another amount than its entry has',
        harm: ({ attemptId }) => `update attempts set fee_cents = fee_cents + 1 where id = '${attemptId}'`,
        undo: ({ attemptId }) => `update attempts set fee_cents = fee_cents - 1 where id = '${attemptId}'`,
      },
      {
        what: 'a best score that no outcome has',
        harm: ({ roundId }) => `update entries set best_score = best_score + 1 where round_id = '${roundId}'`,
        undo: ({ roundId }) => `update entries set best_score = best_score - 1 where round_id = '${roundId}'`,
      },
      {
        what: 'a sort key that is not the score’s',
        harm: (of) =>
          `update entries set sort_key = set_byte(sort_key, 0, 255 - get_byte(sort_key, 0)) where ${entryOf(of)}`,
        undo: (of) =>
          `update entries set sort_key = set_byte(sort_key, 0, 255 - get_byte(sort_key, 0)) where ${entryOf(of)}`,
      },
      {
        what: 'a board that counts one more than there is',
        harm: ({ roundId }) => `update board_chunks set entries = entries + 1 where round_id = '${roundId}'`,
        undo: ({ roundId }) => `update board_chunks set entries = entries - 1 where round_id = '${roundId}'`,
      },
      {
        what: 'an entrant who never entered',
        harm: ({ roundId }) => `update round_tallies set entrants = entrants + 1 where round_id = '${roundId}'`,
        undo: ({ roundId }) => `update round_tallies set entrants = entrants - 1 where round_id = '${roundId}'`,
      },
      {
        what: 'a rank that is not the board’s',
        harm: (of) => `update entries set final_rank = 3 where ${entryOf(of)}`,
        undo: (of) => `update entries set final_rank = 1 where ${entryOf(of)}`,
      },
      {
        what: 'a purse that was changed after the round froze it',
        harm: ({ roundId }) => `update rounds set purse_cents[1] = purse_cents[1] + 1 where id = '${roundId}'`,
        undo: ({ roundId }) => `update rounds set purse_cents[1] = purse_cents[1] - 1 where id = '${roundId}'`,
      },
      {
        what: 'a rank that was never paid',
        harm: ({ roundId }) => away('round_payouts', `round_id = '${roundId}' and final_rank = 2`),
        undo: () => back('round_payouts'),
      },
      {
        what: 'a purse of another amount than the rank wins',
        service: 'wallet',
        harm: ({ accountId }) => `update payouts set amount_cents = amount_cents + 1 where account_id = '${accountId}'`,
        undo: ({ accountId }) => `update payouts set amount_cents = amount_cents - 1 where account_id = '${accountId}'`,
      },
      {
        what: 'a settled round without its seal',
        harm: ({ roundId }) => away('seals', `round_id = '${roundId}'`),
        undo: () => back('seals'),
      },
      {
        what: 'a cancelled round that kept its entries',
        harm: ({ roundId }) => `
          create table if not exists once as select id, settled_at from rounds where false;
          insert into once select id, settled_at from rounds where id = '${roundId}';
          update rounds set status = 'cancelled', settled_at = null where id = '${roundId}'`,
        undo: () =>
          `update rounds set status = 'settled', settled_at = once.settled_at from once where once.id = rounds.id`,
      },
    ];

    const entryOf = (of: Ended) => `round_id = '${of.roundId}' and account_id = '${of.accountId}'`;

    test.each(ROUND_DAMAGES)('the audit of rounds reports $what', async ({ service = 'tournament', harm, undo }) => {
      await world.expectAuditOk();
      await damage(service, harm(ended));
      const broken = Object.entries(await violations()).filter(([, count]) => count > 0);
      expect(broken).not.toEqual([]);
      await damage(service, undo(ended));
      await world.expectAuditOk();
    });
  });

  /**
   * The violations that a service's metrics show, for the checks that found any; null before its
   * first run.
   */
  async function shownBy(service: (typeof AUDITED)[number]): Promise<Record<string, number> | null> {
    const text = await (await fetch(`${world.stack.adminUrls(service)[0]}/metrics`)).text();
    // The programs of these tests play in the sandbox, which has a separate series.
    const shown = [...text.matchAll(/^laurel_audit_violations\{.*?check="(\w+)",environment="test".*?\} (\d+)$/gm)];
    if (shown.length === 0) return null;
    return Object.fromEntries(
      shown.flatMap(([, check = '', count]) => (count === '0' ? [] : [[check, Number(count)]])),
    );
  }

  test('each service shows damage in its metrics until the damage is repaired', async () => {
    for (const service of AUDITED) {
      await expect.poll(() => shownBy(service)).toEqual({});
    }
    const { player, attempt } = await play(1);
    const account = `account_id = '${player.accountId}'`;
    await damage('wallet', `update ledger_accounts set balance_cents = balance_cents + 1 where ${account}`);
    await damage('challenge', `update attempts set fee_cents = fee_cents + 1 where id = '${attempt.id}'`);
    await expect
      .poll(() => shownBy('wallet'))
      .toMatchObject({ balance_is_sum_of_transfers: 1, balances_sum_to_zero: 1 });
    await expect.poll(() => shownBy('challenge')).toEqual({ visible_attempt_has_its_fee: 1 });
    await damage('wallet', `update ledger_accounts set balance_cents = balance_cents - 1 where ${account}`);
    await damage('challenge', `update attempts set fee_cents = fee_cents - 1 where id = '${attempt.id}'`);
    for (const service of AUDITED) {
      await expect.poll(() => shownBy(service)).toEqual({});
    }
    // Each violation has a line in the log, with the rows.
    expect(world.stack.logs('challenge').some((line) => line.includes('violated:') && line.includes(attempt.id))).toBe(
      true,
    );
  });

  test('the audit reports that the ledger’s guard was removed', async () => {
    const { query } = world.stack.database('wallet');
    await query('alter table transfers disable trigger user');
    expect(Object.values(await violations()).some((count) => count > 0)).toBe(true);
    await query('alter table transfers enable trigger user');
    await world.expectAuditOk();
  });
});
