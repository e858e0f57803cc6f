import { randomUUID } from 'node:crypto';
import type { Answer, AttemptBody, OutcomeBody } from '@laurel/testing';
import { expect } from 'vitest';
import { eventually, type World } from '../world.ts';
import type { FaultCase, Flow } from './table.ts';

const FEE_CENTS = 100n;
const PRIZE_CENTS = 500n;
const RETRY_DEADLINE_MS = 40_000;

/** One partner request that a case plays, first while the failpoint is armed and then, if it retries, again. */
type Act = () => Promise<Answer<unknown>>;

interface Scene {
  readonly ref: string;
  readonly challengeId: string;
  readonly act: Act;
  /** Cents on the account before the scene was set. */
  readonly funds: bigint;
}

/**
 * Plays one case of the table: arms the failpoint, sends the request, lets the partner ask again if it does, waits until the
 * system has settled by itself, and then holds everything that anyone was told against what is true.
 */
export async function playFault(world: World, challengeId: string, fault: FaultCase): Promise<void> {
  const { stack } = world;
  await stack.ready();
  const scene = await setScene(world, challengeId, fault.flow);
  const journalStart = world.http.journal.length;

  if (fault.flow === 'resolve') await leavePending(world, scene);
  stack.arm(fault.failpoint, fault.action);
  // In these flows the sweeper acts, and nobody asks it to.
  const first = fault.flow === 'resolve' || fault.flow === 'lapse' ? Promise.resolve() : scene.act();
  // A delay is only worth something while another request comes in.
  if (!fault.action.startsWith('delay')) await first;
  await eventually(async () => stack.isFired(fault.failpoint) || undefined, `${fault.failpoint} was hit`);
  if (fault.retries) await retryUntilDone(scene.act);
  await first;
  await stack.ready();

  await settle(world, scene.ref, fault.flow);
  await verify(world, scene, journalStart);
  await world.expectAuditOk();
}

// --- setting the scene: everything here must succeed, whatever the case before has left open ---

async function setScene(world: World, challengeId: string, flow: Flow): Promise<Scene> {
  const { partner, operator } = world;
  const ref = `fault-${randomUUID()}`;
  await insist(201, () => partner.createPlayer(ref, '20.00'));
  const funds = await balanceOf(world, ref);
  const scene = (act: Act): Scene => ({ ref, challengeId, act, funds });
  const key = randomUUID();
  const entry = { challenge_id: challengeId, player_ref: ref, metadata: { flow } };
  if (flow === 'create' || flow === 'resolve') return scene(() => partner.createAttempt(entry, key));

  const createKey = randomUUID();
  if (flow === 'release') await insist(204, () => partner.holdNextAward(ref));
  const created = await insist(201, () => partner.createAttempt(entry, createKey));
  const { id } = created.body as AttemptBody;
  switch (flow) {
    case 'lose':
      return scene(() => partner.reportOutcome(id, { score: 1, evidence: { flow } }, key));
    case 'win':
      return scene(() => partner.reportOutcome(id, { score: 100, evidence: { flow } }, key));
    case 'expire':
      return scene(() => partner.expireAttempt(id));
    case 'void':
      return scene(() => operator.voidAttempt(id, 'the fault table'));
    case 'release': {
      const won = await insist(200, () => partner.reportOutcome(id, { score: 100 }, key));
      const awardId = (won.body as OutcomeBody).award?.id ?? '';
      return scene(() => operator.releasePayout(awardId));
    }
    case 'lapse':
      return scene(() => partner.getAttempt(id));
  }
}

/** Lets the challenge service die right before the fee of a create is asked for. */
async function leavePending(world: World, scene: Scene): Promise<void> {
  const failpoint = 'challenge.create.before-charge';
  world.stack.arm(failpoint, 'kill');
  await scene.act();
  expect(world.stack.disarm(failpoint), `${failpoint} was hit`).toBe(true);
}

/** Repeats a request until it answers the status; before it, only "not now" is acceptable. */
async function insist(status: number, act: Act): Promise<Answer<unknown>> {
  return eventually(
    async () => {
      const answer = await act();
      if (answer.status === status) return answer;
      expectNotNow(answer);
      return undefined;
    },
    `a request answered ${status}`,
    RETRY_DEADLINE_MS,
  );
}

async function retryUntilDone(act: Act): Promise<void> {
  await eventually(
    async () => {
      const answer = await act();
      if (answer.status >= 200 && answer.status < 300) return true;
      // An expiry or a voiding that went through before says so when it is asked for again.
      if (answer.code === 'attempt_already_settled' || answer.code === 'conflict') return true;
      expectNotNow(answer);
      return undefined;
    },
    'the retry succeeded',
    RETRY_DEADLINE_MS,
  );
}

/** The only answers that a fault may cause: none at all, a 500, or a key whose first request may still run. */
function expectNotNow(answer: Answer<unknown>): void {
  const kind = answer.code ?? String(answer.status);
  expect(['0', 'internal_error', 'idempotency_in_progress'], answer.text).toContain(kind);
}

// --- what is true afterwards ---

interface AttemptRow {
  readonly id: string;
  readonly status: string;
}

async function attemptsOf(world: World, ref: string): Promise<AttemptRow[]> {
  return world.stack
    .database('challenge')
    .query<AttemptRow & { id: string }>('select id, status from attempts where player_ref = $1 order by id', [ref]);
}

async function balanceOf(world: World, ref: string): Promise<bigint> {
  const rows = await world.stack.database('wallet').query<{ balance_cents: bigint }>(
    `select a.balance_cents from ledger_accounts a join player_links l on l.account_id = a.account_id
     where l.player_ref = $1 and a.environment = 'test'`,
    [ref],
  );
  return rows[0]?.balance_cents ?? 0n;
}

/** Waits until workers have rolled everything of this player forward: nothing is between two states. */
async function settle(world: World, ref: string, flow: Flow): Promise<void> {
  const passing = ['pending', 'expiring', 'voiding', ...(flow === 'lapse' ? ['open'] : [])];
  await eventually(async () => {
    const attempts = await attemptsOf(world, ref);
    if (attempts.some(({ status }) => passing.includes(status))) return undefined;
    const awards = await world.stack
      .database('challenge')
      .query(
        `select 1 from awards where attempt_id = any($1::uuid[]) and status in ('paying', 'releasing', 'denying')`,
        [attempts.map(({ id }) => id)],
      );
    return awards.length === 0 || undefined;
  }, 'nothing is between two states');
}

async function verify(world: World, scene: Scene, journalStart: number): Promise<void> {
  const visible = (await attemptsOf(world, scene.ref)).filter(({ status }) => status !== 'refused');
  const read = new Map<string, AttemptBody>();
  for (const { id } of visible) {
    const answer = await insist(200, () => world.partner.getAttempt(id));
    read.set(id, answer.body as AttemptBody);
  }
  verifyJournal(world, scene, journalStart, read);

  // One fee for each attempt that is there, and none for one that is not.
  const fees = await world.stack.database('wallet').query<{ attempt_id: string; amount_cents: bigint }>(
    `select attempt_id, amount_cents from transfers
     where kind = 'fee' and state = 'posted' and debit_id in
       (select a.id from ledger_accounts a join player_links l on l.account_id = a.account_id where l.player_ref = $1)
     order by attempt_id`,
    [scene.ref],
  );
  expect(fees.map((fee) => fee.attempt_id)).toEqual([...read.keys()].sort());
  expect(fees.every((fee) => fee.amount_cents === FEE_CENTS)).toBe(true);

  let expected = scene.funds;
  for (const attempt of read.values()) {
    if (attempt.status === 'open' || attempt.status === 'settled') expected -= FEE_CENTS;
    if (attempt.outcome?.award?.paid_at) expected += PRIZE_CENTS;
  }
  expect(await balanceOf(world, scene.ref)).toBe(expected);
}

/** Every 2xx that the partner saw in this case agrees with what is read now, and one key never answers two things. */
function verifyJournal(world: World, scene: Scene, start: number, read: ReadonlyMap<string, AttemptBody>): void {
  const byKey = new Map<string, string>();
  for (const { idempotencyKey, path, answer } of world.http.journal.slice(start)) {
    if (answer.status < 200 || answer.status > 299) continue;
    if (idempotencyKey !== undefined) {
      const known = byKey.get(idempotencyKey);
      expect(answer.text, 'one key, one answer').toBe(known ?? answer.text);
      byKey.set(idempotencyKey, answer.text);
    }
    if (path === '/v1/attempts') {
      const created = answer.body as AttemptBody;
      const { status: _status, outcome: _outcome, ...frozen } = created;
      expect(created).toMatchObject({ status: 'open', outcome: null, player_ref: scene.ref });
      expect(read.get(created.id), `the attempt of a 201: ${answer.text}`).toMatchObject(frozen);
    } else if (path.endsWith('/outcome')) {
      const told = answer.body as OutcomeBody;
      const { award, ...facts } = told;
      const now = read.get(told.attempt_id)?.outcome;
      expect(now, `the outcome of a 200: ${answer.text}`).toMatchObject(facts);
      expect(now?.award?.id).toBe(award?.id);
      if (award?.payout_status === 'paid') expect(now?.award?.paid_at).toBe(award.paid_at);
    } else if (path.endsWith('/expire') || path.endsWith('/void')) {
      const ended = answer.body as AttemptBody;
      expect(read.get(ended.id)).toEqual(ended);
    } else if (path.endsWith('/release')) {
      expect([...read.values()].every((attempt) => attempt.outcome?.award?.paid_at != null)).toBe(true);
    }
  }
  // A partner that saw one attempt created never finds two.
  expect(read.size).toBeLessThanOrEqual(1);
}
