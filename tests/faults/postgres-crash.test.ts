import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import type { Attempt, Outcome } from '@laurel/sdk';
import { type Answer, freePorts } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectStatus, fullBoard, startWorld, type World } from '../world.ts';
import { type DeliveredEvents, receiveEvents } from './delivered-events.ts';
import { lapseAcknowledgements, lapseLeases } from './waits.ts';

const PLAYERS = 24;
const FLOWS_PER_PLAYER = 20;
const CRASHES = 2;

describe('PostgreSQL dies under load', () => {
  let directory: string;
  let port: number;
  let postgres: EmbeddedPostgres;
  let world: World;
  let delivered: DeliveredEvents;

  /** fsync is on (the default): an acknowledged commit must be on disk. */
  const startPostgres = () =>
    startEmbeddedPostgres({ dataDirectory: directory, port, logFile: join(directory, 'postgres.log') });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'laurel-crash-'));
    port = (await freePorts(1))[0] ?? 0;
    postgres = await startPostgres();
    world = await startWorld({
      postgresUrl: postgres.superuserUrl,
      environment: {
        challenge: { PENDING_GRACE_SECONDS: '3' },
        tournament: { PENDING_GRACE_SECONDS: '3' },
        gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' },
      },
    });
    delivered = await receiveEvents(world);
  }, 120_000);
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /**
   * A partner that repeats a request under one idempotency key until it has a result, and fails on
   * a response that no crash explains.
   */
  function insist<Body>(ask: (key: string) => Promise<Answer<Body>>): Promise<Answer<Body>> {
    const key = randomUUID();
    return eventually(
      async () => {
        const answer = await ask(key);
        if (answer.status >= 200 && answer.status < 300) return answer;
        const kind = answer.code ?? String(answer.status);
        // While a database is down, the gateway must neither reject a key nor respond that an
        // attempt does not exist.
        expect(['0', 'internal_error', 'idempotency_in_progress'], answer.text).toContain(kind);
        return undefined;
      },
      'a request succeeded',
      60_000,
    );
  }

  test('a crash of PostgreSQL loses no acknowledged write and repeats no charge', { timeout: 180_000 }, async () => {
    const { program } = delivered.developer;
    const partner = program.test;
    // The challenge claims the pass rate that is played, so that its drift monitor does not suspend
    // it: each player wins once, at the end.
    const challenge = await world.newChallenge({ target_pass_rate: 0.04 }, program);
    const round = await world.newRound({ attempt_cap: FLOWS_PER_PLAYER }, program);
    const refs = Array.from({ length: PLAYERS }, () => randomUUID());
    await Promise.all(refs.map(async (ref) => expectStatus(201, await partner.createPlayer(ref, '100.00'))));

    let flowsDone = 0;
    let crashedAt = new Date();
    const created = new Map<string, Attempt>();
    const outcomes = new Map<string, Outcome>();
    const play = async (ref: string): Promise<void> => {
      for (let flow = 0; flow < FLOWS_PER_PLAYER; flow += 1) {
        const parent = flow % 4 === 0 ? { tournament_round_id: round.id } : { challenge_id: challenge.id };
        const entry = { ...parent, player_ref: ref, metadata: { flow } };
        const attempt = await insist((key) => partner.createAttempt(entry, key));
        created.set(attempt.body.id, attempt.body);
        const score = flow === FLOWS_PER_PLAYER - 1 ? 100 : flow;
        const outcome = await insist((key) => partner.reportOutcome(attempt.body.id, { score }, key));
        outcomes.set(attempt.body.id, outcome.body);
        flowsDone += 1;
      }
    };
    const crash = async (): Promise<void> => {
      for (let count = 1; count <= CRASHES; count += 1) {
        const target = (PLAYERS * FLOWS_PER_PLAYER * count) / (CRASHES + 1);
        await eventually(async () => flowsDone >= target || undefined, 'enough flows are done', 120_000);
        // Immediate shutdown: no checkpoint, no clean close of connections; the next start recovers
        // from the log.
        process.kill(postgres.pid, 'SIGQUIT');
        await postgres.exited;
        crashedAt = new Date();
        postgres = await startPostgres();
      }
    };
    await Promise.all([crash(), ...refs.map(play)]);

    expect(created.size).toBe(PLAYERS * FLOWS_PER_PLAYER);
    for (const [id, attempt] of created) {
      const read = await insist(() => partner.getAttempt(id));
      const { status: _status, outcome: _outcome, ...frozen } = attempt;
      expect(read.body).toMatchObject({ ...frozen, status: 'settled' });
      const { award, ...facts } = outcomes.get(id) ?? expect.fail('no outcome');
      expect(read.body.outcome).toMatchObject(facts);
      expect(read.body.outcome?.award?.id).toBe(award?.id);
    }
    for (const ref of refs) {
      const rows = await world.stack.database('wallet').query<{ balance_cents: bigint }>(
        `select a.balance_cents from ledger_accounts a join player_links l on l.account_id = a.account_id
         where l.player_ref = $1 and a.environment = 'test'`,
        [ref],
      );
      expect(rows).toEqual([{ balance_cents: BigInt(10_000 - 100 * FLOWS_PER_PLAYER + 500) }]);
    }
    await world.expectAuditOk();

    const closed = await insist(() => partner.closeRound(round.id));
    expect(closed.body).toMatchObject({ status: 'settled', entrant_count: PLAYERS });
    const board = fullBoard(await insist(() => partner.getLeaderboard(round.id, refs[0])));
    // The last of a player's runs in the round has the best score.
    const best = [...outcomes.values()].filter(({ attempt_id, score }) => {
      return score === FLOWS_PER_PLAYER - 4 && created.get(attempt_id)?.tournament_round_id === round.id;
    });
    expect(board.data).toHaveLength(PLAYERS);
    expect(new Set(board.data.map((row) => row.best_score_at))).toEqual(
      new Set(best.map((outcome) => outcome.recorded_at)),
    );
    await world.expectAuditOk();

    // Every send that was under way when the database died is repeated.
    await lapseLeases(world.stack, { begunBefore: crashedAt });
    await lapseAcknowledgements(world.stack);
    await delivered.expectAll({ refs, rounds: [round.id] }, 60_000);
    const deliveries = await world.stack.database('webhook').query('select distinct status from deliveries');
    expect(deliveries).toEqual([{ status: 'delivered' }]);
  });
});
