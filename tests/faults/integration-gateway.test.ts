/**
 * The gateway, or the contest service of the attempt, fails at a step of a push over HTTP, and the
 * partner repeats the same body until it succeeds. The report has settled one attempt, once, and
 * the partner's requests and responses, the integration's log and the contest service's outcomes
 * agree.
 */
import { randomUUID } from 'node:crypto';
import type { Attempt, Outcome } from '@laurel/sdk';
import { type Answer, type FailpointAction, type LogEntryBody, push } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTarget, playerDescriptor, type Target } from '../integrations/target.ts';
import { eventually, startWorld, WITH_TIEBREAK, type World } from '../world.ts';
import type { FailpointName } from './points.ts';

type ContestService = 'challenge' | 'tournament';
/** How the report names its attempt. */
type Flow = 'by id' | 'by player';
type Point = FailpointName<'gateway' | ContestService>;

interface Case {
  readonly contestService: ContestService;
  readonly flow: Flow;
  readonly point: Point;
  readonly action: FailpointAction;
}

const CASES = (['challenge', 'tournament'] as const).flatMap((contestService) => {
  const faults = [
    ['gateway.push.before-call', 'kill'],
    ['gateway.push.before-call', 'throw'],
    ['gateway.push.after-call', 'kill'],
    ['gateway.push.after-call', 'throw'],
    [`${contestService}.outcome.before-commit`, 'kill'],
    [`${contestService}.outcome.after-commit`, 'kill'],
  ] as const;
  const flows = ['by id', 'by player'] as const;
  return faults.flatMap(([point, action]) => flows.map((flow): Case => ({ contestService, flow, point, action })));
});

/** A challenge whose bar the report clears, or a round that declares a tiebreak. */
interface Contest {
  readonly parent: { readonly challenge_id: string } | { readonly tournament_round_id: string };
  readonly report: { readonly score: number; readonly tiebreak?: number };
  /** The balance of the player, who had 100.00, after two fees and the report's prize. */
  readonly balance: string;
  readonly targets: Readonly<Record<Flow, Target>>;
}

let world: World;
let contests: Readonly<Record<ContestService, Contest>>;

beforeAll(async () => {
  world = await startWorld({
    failpoints: true,
    restart: true,
    standby: ['gateway', 'challenge', 'tournament'],
    internalTls: false,
  });
  const byId = await newTarget(world.partner);
  const targetsOf = async (parent: Contest['parent']) => ({
    'by id': byId,
    'by player': await newTarget(world.partner, { descriptor: playerDescriptor(parent) }),
  });
  const challenge = { challenge_id: (await world.newChallenge()).id };
  const round = { tournament_round_id: (await world.newRound(WITH_TIEBREAK)).id };
  contests = {
    challenge: { parent: challenge, report: { score: 100 }, balance: '103.00', targets: await targetsOf(challenge) },
    tournament: {
      parent: round,
      report: { score: 7, tiebreak: 41 },
      balance: '98.00',
      targets: await targetsOf(round),
    },
  };
});
afterAll(() => world?.[Symbol.asyncDispose]());

/**
 * Repeats the request with its key: for a moment the gateway may not reach a contest service that
 * was killed.
 */
async function openAttempt(parent: Contest['parent'], ref: string): Promise<string> {
  const key = randomUUID();
  return await eventually(async () => {
    const { status, body } = await world.partner.createAttempt({ ...parent, player_ref: ref }, key);
    return status === 201 ? body.id : undefined;
  }, 'the attempt is created');
}

async function readAttempt(id: string): Promise<Attempt> {
  return await eventually(async () => {
    const { status, body } = await world.partner.getAttempt(id);
    return status === 200 ? body : undefined;
  }, 'the attempt is read');
}

/** Repeats the body until it succeeds; until then there is no response, or a 500. */
async function pushUntilAnswered(target: Target, body: string): Promise<Answer<Outcome>> {
  return await eventually(async () => {
    const answer = await push(world.http, target, body);
    if (answer.status === 200) return answer;
    expect([0, 500], answer.text).toContain(answer.status);
    return undefined;
  }, 'the push is answered');
}

/**
 * The entries of the integration's log for this body, without pushes on which the service failed.
 */
function loggedOf({ id }: Target, body: string): Promise<Pick<LogEntryBody, 'records'>[]> {
  return world.stack
    .database('integration')
    .query(`select records from log_entries where integration_id = $1 and body_excerpt = $2 and error is null`, [
      id,
      body,
    ]);
}

describe('a fault at each step of a push over HTTP', () => {
  test.each(CASES)(
    'a report $flow for the $contestService service settles one attempt once after a fault: $point, $action',
    async ({ contestService, flow, point, action }) => {
      const { stack, http } = world;
      await stack.ready();
      const { parent, report, balance, targets } = contests[contestService];
      const target = targets[flow];
      const player = await world.newPlayer();
      // Once the first is settled, the second is the player's oldest open attempt.
      const [id, second] = [await openAttempt(parent, player.ref), await openAttempt(parent, player.ref)];
      const named = flow === 'by id' ? { attempt_id: id } : { id: randomUUID(), player: player.ref };
      const body = JSON.stringify({ ...named, ...report });
      const journalStart = http.journal.length;

      stack.arm(point, action);
      const first = await eventually(async () => {
        const answer = await push(http, target, body);
        return stack.isFired(point) ? answer : undefined;
      }, `${point} was hit`);
      if (point.startsWith('gateway.')) expect(first.status).toBe(action === 'kill' ? 0 : 500);
      await stack.ready();
      const answer = await pushUntilAnswered(target, body);
      await pushUntilAnswered(target, body);

      // The partner got one response, byte for byte, with the outcome that /v1 shows.
      const sent = http.journal.slice(journalStart).filter((entry) => entry.sent === body);
      const answered = sent.filter((entry) => entry.answer.status === 200);
      expect(new Set(answered.map((entry) => entry.answer.text))).toEqual(new Set([answer.text]));
      const { attempt_id, score, receipt_id } = answer.body;
      expect({ attempt_id, score }).toEqual({ attempt_id: id, score: report.score });
      expect(await readAttempt(id)).toMatchObject({ status: 'settled', outcome: { score, receipt_id } });
      expect(await readAttempt(second)).toMatchObject({ status: 'open', outcome: null });
      expect(await world.balance(player)).toBe(balance);

      // The log has every push that got a response, and the push whose response the gateway lost.
      const isLost = point === 'gateway.push.after-call';
      const logged = await eventually(async () => {
        const entries = await loggedOf(target, body);
        return entries.length >= answered.length + Number(isLost) ? entries : undefined;
      }, 'the log has every push that was answered');
      expect(logged).toHaveLength(answered.length + Number(isLost));
      const records = logged.flatMap((entry) => entry.records);
      // A contest service that died after its commit has settled the report. From then on it
      // answers that the report is a duplicate.
      const settled = point === `${contestService}.outcome.after-commit` ? 0 : 1;
      expect(records.map(({ status }) => status).sort()).toEqual([
        ...Array.from({ length: logged.length - settled }, () => 'duplicate'),
        ...Array.from({ length: settled }, () => 'settled'),
      ]);
      expect(new Set(records.map((record) => record.attempt_id))).toEqual(new Set([id]));
      const pairs = await stack
        .database('integration')
        .query('select integration_id, attempt_id from report_attempts where attempt_id = any($1::uuid[])', [
          [id, second],
        ]);
      expect(pairs).toEqual(flow === 'by id' ? [] : [{ integration_id: target.id, attempt_id: id }]);

      // The contest service has one outcome, under the receipt that the partner got.
      const outcomes = await stack.database(contestService).query(
        `select attempt_id, receipt_id, score, (to_jsonb(o) ->> 'tiebreak')::int as tiebreak from outcomes o
         where attempt_id = any($1::uuid[])`,
        [[id, second]],
      );
      expect(outcomes).toEqual([{ attempt_id: id, receipt_id, score, tiebreak: report.tiebreak ?? null }]);
    },
  );
});

test('the audit finds no violation after the faults of pushes over HTTP', async () => {
  await world.stack.ready();
  await world.expectAuditOk();
});
