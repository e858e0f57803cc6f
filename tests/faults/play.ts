import { randomUUID } from 'node:crypto';
import type { Attempt, Leaderboard, Outcome, Round, RoundStatus, Tournament } from '@laurel/sdk';
import { type Answer, findingMessage, type JournalEntry, type OperatorRoundBody } from '@laurel/testing';
import { expect } from 'vitest';
import { eventually, inMinutes, tournamentTerms, type World } from '../world.ts';
import type { DeliveredEvents } from './delivered-events.ts';
import {
  type FaultCase,
  type FaultRow,
  type Flow,
  isDeadly,
  isPassedByRequestsOnly,
  isRoundFlow,
  type RoundFlow,
} from './table.ts';
import { lapseAcknowledgements, lapseLeases } from './waits.ts';

const FEE_CENTS = 100n;
const PRIZE_CENTS = 500n;
/** The payouts of the first two ranks of a round; the other ranks get none. */
const PURSE_CENTS = [500n, 300n];
const ANNULLED_FOR = 'the fault table';
const RETRY_DEADLINE_MS = 40_000;
const RETRY_PAUSE_MS = 50;

/**
 * A partner's request in a case. It is sent while the failpoint is armed, and again if the partner
 * retries.
 */
type Act = () => Promise<Answer<unknown>>;

interface Scene {
  readonly flow: Flow;
  /**
   * Every player of the scene. A player has at most one attempt, or none yet if the act creates it.
   */
  readonly refs: readonly string[];
  /** Attempts that ended before the scene began; they do not count as a player's one attempt. */
  readonly earlier: readonly string[];
  readonly act: Act;
  /** The round of a round's flow. */
  readonly round: Round | undefined;
}

/**
 * A scope is where cases are played: one challenge, and rounds, of a program whose developer has a
 * receiver.
 */
export interface Scope {
  readonly world: World;
  readonly delivered: DeliveredEvents;
  readonly challengeId: string;
}

/** The cents on each account before the scene. */
const FUNDS_CENTS = 2_000n;

/** A worker acts in these flows, without a partner's request. */
const BY_A_WORKER: readonly Flow[] = ['resolve', 'lapse', 'tombstone', 'fade', 'next'];

/** A row whose cases have been played. */
export interface PlayedRow {
  /**
   * Compares every response and event of a case with the databases. The audit, one for the whole
   * row, must find no violation.
   */
  verify(fault: FaultCase): Promise<void>;
}

/** A case that has been played. */
interface PlayedCase {
  readonly scene: Scene;
  /** Every request since the scene was set. */
  readonly journal: readonly JournalEntry[];
}

/**
 * Plays the cases of one row of the table, one after the other, each on a scene of its own. Then
 * waits until the workers have no pending work. A violation persists, so it is still there when
 * `verify` reads the databases. The error of a case that fails here is kept for its `verify`, and
 * the other cases of the row go on.
 */
export async function playRow({ world: shared, delivered, challengeId }: Scope, row: FaultRow): Promise<PlayedRow> {
  const { program } = delivered.developer;
  const world: World = { ...shared, program, partner: program.test };
  const played = new Map<FaultCase, PlayedCase>();
  const errors = new Map<FaultCase, unknown>();
  await world.stack.ready();
  for (const fault of row) {
    try {
      played.set(fault, await playCase(world, challengeId, fault));
    } catch (error) {
      errors.set(fault, error);
      world.stack.disarm(fault.failpoint);
    }
  }
  for (const [fault, { scene }] of played) {
    await untilComplete(world, scene).catch((error: unknown) => errors.set(fault, error));
  }

  let audited: Promise<void> | undefined;
  return {
    async verify(fault) {
      if (errors.has(fault)) throw errors.get(fault);
      const { scene, journal } = played.get(fault) ?? expect.fail('the case is of another row');
      await verify(world, scene, journal);
      await delivered.expectAll({ refs: scene.refs, rounds: scene.round === undefined ? [] : [scene.round.id] });
      audited ??= world.expectAuditOk();
      await audited;
    },
  };
}

/**
 * Arms the failpoint, sends the request and repeats it if the partner retries. Ends when no worker
 * has work left in which it would pass the failpoint, so that the next case of the row meets only
 * its own fault.
 */
async function playCase(world: World, challengeId: string, fault: FaultCase): Promise<PlayedCase> {
  const { stack } = world;
  const webhookPids = stack.pids('webhook');
  const scene = await setScene(world, challengeId, fault.flow);
  const journalStart = world.http.journal.length;

  if (fault.flow === 'resolve') await leavePending(world, scene, 'challenge.create.before-charge');
  if (fault.flow === 'tombstone') await leavePending(world, scene, 'tournament.create.before-charge');
  // The scene's prizes are recorded and its events published after its responses, but the fault
  // must hit the prizes and events of the act.
  if (/\.(award|payout|outbox)\./.test(fault.failpoint)) await world.allAcknowledged();
  stack.arm(fault.failpoint, fault.action);
  if (fault.flow === 'next') await resumeBehindTheService(world, scene);
  const first = BY_A_WORKER.includes(fault.flow) ? Promise.resolve() : scene.act();
  // A delay matters only while another request arrives.
  if (!fault.action.startsWith('delay')) await first;
  await eventually(async () => stack.isFired(fault.failpoint) || undefined, `${fault.failpoint} was hit`);
  const firedAt = new Date();
  if (fault.retries) await retryUntilDone(world, scene.act);
  await first;
  if (isDeadly(fault)) await stack.ready();
  // Events that a webhook service had fetched before it died would wait for their leases to end.
  const hasWebhookDied = stack.pids('webhook').some((pid) => !webhookPids.includes(pid));
  if (hasWebhookDied) {
    await lapseLeases(stack, { begunBefore: firedAt });
    await lapseAcknowledgements(stack);
  }
  const journal = world.http.journal.slice(journalStart);

  if (isDeadly(fault)) await untilReachable(world);
  if (!isPassedByRequestsOnly(fault)) {
    await untilComplete(world, scene);
    await world.allAcknowledged();
  }
  return { scene, journal };
}

/** Waits until the gateway reaches the services: a retry may have got a stored response instead. */
async function untilReachable({ partner }: World): Promise<void> {
  await insist(200, () => partner.listChallenges('anyone'));
  await insist(200, () => partner.listTournaments());
}

// --- setting the scene: everything here must succeed, whatever the last case left unfinished ---

async function setScene(world: World, challengeId: string, flow: Flow): Promise<Scene> {
  return isRoundFlow(flow) ? setRoundScene(world, flow) : setChallengeScene(world, challengeId, flow);
}

async function setChallengeScene(world: World, challengeId: string, flow: Exclude<Flow, RoundFlow>): Promise<Scene> {
  const { partner, operator } = world;
  const ref = await newPlayer(world);
  const scene = (act: Act, earlier: readonly string[] = []): Scene => ({
    flow,
    refs: [ref],
    earlier,
    act,
    round: undefined,
  });
  const key = randomUUID();
  const entry = { challenge_id: challengeId, player_ref: ref, metadata: { flow } };
  if (flow === 'create' || flow === 'resolve') return scene(() => partner.createAttempt(entry, key));

  const createKey = randomUUID();
  if (flow === 'release') await insist(204, () => partner.holdNextAward(ref));
  const { id } = await insist(201, () => partner.createAttempt(entry, createKey));
  switch (flow) {
    case 'again': {
      const loseKey = randomUUID();
      await insist(200, () => partner.reportOutcome(id, { score: 1 }, loseKey));
      return scene(() => partner.createAttempt(entry, key), [id]);
    }
    case 'lose':
      return scene(() => partner.reportOutcome(id, { score: 1, evidence: { flow } }, key));
    case 'late':
      await world.stack.restart('challenge');
      // Waits until the gateway reaches the challenge service again.
      await insist(200, () => partner.getAttempt(id));
      return scene(() => partner.reportOutcome(id, { score: 100, evidence: { flow } }, key));
    case 'win':
      return scene(() => partner.reportOutcome(id, { score: 100, evidence: { flow } }, key));
    case 'expire':
      return scene(() => partner.expireAttempt(id));
    case 'void':
      return scene(() => operator.voidAttempt(id, 'the fault table'));
    case 'release': {
      const won = await insist(200, () => partner.reportOutcome(id, { score: 100 }, key));
      const awardId = won.award?.id ?? '';
      return scene(() => operator.releasePayout(awardId));
    }
    case 'lapse':
      return scene(() => partner.getAttempt(id));
  }
}

async function setRoundScene(world: World, flow: RoundFlow): Promise<Scene> {
  const { partner, operator } = world;
  const round = await newRound(world, flow);
  const key = randomUUID();
  if (flow === 'next') {
    await insist(200, () => operator.updateTournament(round.tournament_id, { status: 'paused' }));
    await insist(200, () => partner.closeRound(round.id));
    return { flow, refs: [], earlier: [], act: () => partner.listTournaments('all'), round };
  }
  const ref = await newPlayer(world);
  const scene = (act: Act, refs: readonly string[] = [ref]): Scene => ({ flow, refs, earlier: [], act, round });
  const entry = { tournament_round_id: round.id, player_ref: ref, metadata: { flow } };
  if (flow === 'enter' || flow === 'tombstone') return scene(() => partner.createAttempt(entry, key));

  if (flow === 'follow') {
    const first = await newPlayer(world);
    await enter(world, round, first);
    return scene(() => partner.createAttempt(entry, key), [ref, first]);
  }

  const id = await enter(world, round, ref);
  switch (flow) {
    case 'score':
      return scene(() => partner.reportOutcome(id, { score: 7, evidence: { flow } }, key));
    case 'withdraw':
      return scene(() => partner.expireAttempt(id));
    case 'fade':
      return scene(() => partner.getAttempt(id));
  }

  // The end of a round: the first player has the best score, the second another, the third none.
  const [second, silent] = [await newPlayer(world), await newPlayer(world)];
  const other = await enter(world, round, second);
  await enter(world, round, silent);
  const [key1, key2] = [randomUUID(), randomUUID()];
  await insist(200, () => partner.reportOutcome(id, { score: 20 }, key1));
  await insist(200, () => partner.reportOutcome(other, { score: 10 }, key2));
  const refs = [ref, second, silent];
  switch (flow) {
    case 'close':
    case 'cancel':
      return scene(() => partner.closeRound(round.id), refs);
    case 'annul':
      return scene(() => operator.cancelRound(round.id, ANNULLED_FOR), refs);
    case 'grant': {
      await insist(204, () => partner.holdNextAward(ref));
      await insist(200, () => partner.closeRound(round.id));
      const { data } = await insist(200, () => operator.listPayouts('held'));
      const held = data.find((payout) => payout.round_id === round.id) ?? expect.fail('no purse is held');
      return scene(() => operator.releasePayout(held.award_id), refs);
    }
  }
}

async function newPlayer(world: World): Promise<string> {
  const ref = `fault-${randomUUID()}`;
  await insist(201, () => world.partner.createPlayer(ref, '20.00'));
  return ref;
}

async function newRound(world: World, flow: RoundFlow): Promise<Round> {
  const { operator, program } = world;
  const terms = tournamentTerms({
    purse_table: [
      { rank: 1, amount: '5.00' },
      { rank: 2, amount: '3.00' },
    ],
    min_entrants: flow === 'cancel' ? 4 : 1,
    ...(flow === 'next' && { round_length_seconds: 3600 }),
  });
  const tournament = await insist(201, () => operator.createTournament(program.id, terms));
  return (
    tournament.current_round ??
    (await insist(201, () => operator.openRound(tournament.id, { closes_at: inMinutes(60) })))
  );
}

async function enter(world: World, round: Round, ref: string): Promise<string> {
  const key = randomUUID();
  const entry = { tournament_round_id: round.id, player_ref: ref };
  return (await insist(201, () => world.partner.createAttempt(entry, key))).id;
}

/** Kills the attempt's contest service right before it asks for the fee of a create. */
async function leavePending(
  world: World,
  scene: Scene,
  failpoint: 'challenge.create.before-charge' | 'tournament.create.before-charge',
): Promise<void> {
  world.stack.arm(failpoint, 'kill');
  await scene.act();
  expect(world.stack.disarm(failpoint), `${failpoint} was hit`).toBe(true);
}

/**
 * Makes a paused tournament active without opening a round, so that the worker finds one missing.
 */
async function resumeBehindTheService(world: World, { round }: Scene): Promise<void> {
  await world.stack
    .database('tournament')
    .query(`update tournaments set status = 'active' where id = $1`, [round?.tournament_id]);
}

/**
 * Repeats a request until it has the status; before that, only a retryable refusal is acceptable.
 * The pauses are those of `retryUntilDone`.
 */
async function insist<Body>(status: number, act: () => Promise<Answer<Body>>): Promise<Body> {
  const { body } = await eventually(
    async () => {
      const answer = await act();
      if (answer.status === status) return answer;
      expectNotNow(answer);
      return undefined;
    },
    `a request answered ${status}`,
    RETRY_DEADLINE_MS,
    RETRY_PAUSE_MS,
  );
  return body;
}

/**
 * Repeats the request at once, when a killed service may still be down, and then from the moment at
 * which all are ready. With the short pauses of `eventually` the failed requests would open the
 * callers' breakers, which then fail every request of the next second.
 */
async function retryUntilDone(world: World, act: Act): Promise<void> {
  const isDone = async () => {
    const answer = await act();
    if (answer.status >= 200 && answer.status < 300) return true;
    // A repeated expiry, voiding or close responds that it was done before.
    if (answer.code === 'attempt_already_settled' || answer.code === 'conflict') return true;
    expectNotNow(answer);
    return undefined;
  };
  if (await isDone()) return;
  await world.stack.ready();
  await eventually(isDone, 'the retry succeeded', RETRY_DEADLINE_MS, RETRY_PAUSE_MS);
}

/**
 * The only failures that a fault may cause: no response, a 500, or a key whose first request may
 * still be running.
 */
function expectNotNow(answer: Answer<unknown>): void {
  const kind = answer.code ?? String(answer.status);
  expect(['0', 'internal_error', 'idempotency_in_progress'], answer.text).toContain(kind);
  expect(answer.text).not.toMatch(/failpoint|Error:|at .*\.ts|select|insert/i);
}

// --- what is true afterwards ---

interface AttemptRow {
  readonly id: string;
  readonly status: string;
}

async function attemptsOf(world: World, { refs, round }: Scene): Promise<AttemptRow[]> {
  return world.stack
    .database(round === undefined ? 'challenge' : 'tournament')
    .query<AttemptRow & { id: string }>(
      'select id, status from attempts where player_ref = any($1::text[]) order by id',
      [refs],
    );
}

async function balanceOf(world: World, ref: string): Promise<bigint> {
  const rows = await world.stack.database('wallet').query<{ balance_cents: bigint }>(
    `select a.balance_cents from ledger_accounts a join player_links l on l.account_id = a.account_id
     where l.player_ref = $1 and a.environment = 'test'`,
    [ref],
  );
  return rows[0]?.balance_cents ?? 0n;
}

/** Waits until the workers have completed the whole scene: no row is in an intermediate state. */
async function untilComplete(world: World, scene: Scene): Promise<void> {
  const { flow, round } = scene;
  const endsByTime = flow === 'lapse' || flow === 'fade';
  const passing = ['pending', 'expiring', 'voiding', ...(endsByTime ? ['open'] : [])];
  await eventually(async () => {
    const attempts = await attemptsOf(world, scene);
    if (attempts.some(({ status }) => passing.includes(status))) return undefined;
    const unfinished =
      round === undefined
        ? await world.stack.database('challenge').query(
            `select 1 from awards where attempt_id = any($1::uuid[]) and status in ('paying', 'holding', 'releasing', 'denying')
               union all
               select 1 from unmonitored_outcomes`,
            [attempts.map(({ id }) => id)],
          )
        : await unfinishedOf(world, flow, round);
    return unfinished.length === 0 || undefined;
  }, 'nothing is between two states');
}

/**
 * Returns an item for each row of a round that is in an intermediate state, and one for the next
 * round of the tournament if that is due and missing.
 */
function unfinishedOf(world: World, flow: Flow, round: Round): Promise<object[]> {
  const ends = flow === 'close' || flow === 'cancel';
  return world.stack.database('tournament').query(
    `select 'round' from rounds
     where id = $1 and (status in ('settling', 'cancelling') or (($2 or exists (select from round_cancellations x where x.round_id = rounds.id)) and status = 'open'))
     union all
     select 'payout' from round_payouts where round_id = $1 and status in ('paying', 'releasing', 'denying')
     union all
     select 'refund' from refunds_due d join attempts a on a.id = d.attempt_id where a.round_id = $1
     union all
     select 'next round' where $3 and not exists (select from rounds where tournament_id = $4 and status = 'open')`,
    [round.id, ends, flow === 'next', round.tournament_id],
  );
}

async function verify(world: World, scene: Scene, journal: readonly JournalEntry[]): Promise<void> {
  const visible = (await attemptsOf(world, scene)).filter(({ status }) => status !== 'refused');
  const read = new Map<string, Attempt>();
  for (const { id } of visible) read.set(id, await insist(200, () => world.partner.getAttempt(id)));
  const attempts = [...read.values()];
  // A partner that saw one attempt created never finds two.
  const current = attempts.filter(({ id }) => !scene.earlier.includes(id));
  expect(
    new Set(current.map((attempt) => attempt.player_ref)).size,
    findingMessage('one attempt for each player'),
  ).toBe(current.length);
  expect(attempts.length - current.length, findingMessage('nothing of what was before is lost')).toBe(
    scene.earlier.length,
  );
  const board = scene.round === undefined ? undefined : await readBoard(world, scene, scene.round, attempts);
  verifyJournal(scene, journal, read, board);
  if (scene.flow === 'next') await verifyNextRound(world, scene);

  // One fee for each existing attempt, and none for any other.
  const fees = await world.stack.database('wallet').query<{ attempt_id: string; amount_cents: bigint }>(
    `select attempt_id, amount_cents from transfers
     where kind = 'fee' and state = 'posted' and debit_id in
       (select a.id from ledger_accounts a join player_links l on l.account_id = a.account_id
        where l.player_ref = any($1::text[]))
     order by attempt_id`,
    [scene.refs],
  );
  expect(
    fees.map((fee) => fee.attempt_id),
    findingMessage('the fees are those of the attempts'),
  ).toEqual([...read.keys()].sort());
  expect(fees.every((fee) => fee.amount_cents === FEE_CENTS)).toBe(true);

  for (const ref of scene.refs) {
    const gains = attempts.filter((found) => found.player_ref === ref).map((attempt) => gainOf(attempt, board));
    expect(await balanceOf(world, ref), findingMessage(`the balance of ${ref}`)).toBe(
      gains.reduce((sum, gain) => sum + gain, FUNDS_CENTS),
    );
  }
}

/** An attempt's effect on its player's balance, as the partner reads it. */
function gainOf(attempt: Attempt, board: Leaderboard | undefined): bigint {
  if (attempt.status === 'expired' || attempt.status === 'voided') return 0n;
  if (board?.round.status === 'cancelled') return 0n;
  const rows = board !== undefined && 'data' in board ? board.data : [];
  const row = rows.find((found) => found.player_ref === attempt.player_ref);
  const purse = row?.payout_status === 'paid' ? (PURSE_CENTS[row.rank - 1] ?? 0n) : 0n;
  return purse - FEE_CENTS + (attempt.outcome?.award?.paid_at ? PRIZE_CENTS : 0n);
}

/** The board that an entrant sees, or the masked one without an entrant; it must be consistent. */
async function readBoard(
  world: World,
  { flow }: Scene,
  round: Round,
  attempts: readonly Attempt[],
): Promise<Leaderboard> {
  // An expired or voided attempt does not count as an entrant.
  const entered = attempts.filter(({ status }) => status === 'open' || status === 'settled');
  const ref = entered[0]?.player_ref;
  const board = await insist(200, () => world.partner.getLeaderboard(round.id, ref));
  expect('locked' in board).toBe(ref === undefined);
  expect(board.round.entrant_count).toBe(entered.length);
  const scored = attempts.filter((attempt) => attempt.status === 'settled');
  expect(board.scored_players).toBe(scored.length);
  if (!('data' in board)) return board;
  const best = scored.toSorted((one, other) => (other.outcome?.score ?? 0) - (one.outcome?.score ?? 0));
  expect(board.data.map((row) => [row.player_ref, row.best_score, row.best_score_at])).toEqual(
    best.map((attempt) => [attempt.player_ref, attempt.outcome?.score, attempt.outcome?.recorded_at]),
  );
  const decided = {
    open: [null, 'none'],
    settling: [null, 'none'],
    settled: [undefined, 'paid'],
    cancelled: ['0.00', 'refunded'],
  }[board.round.status as RoundStatus];
  for (const [index, row] of board.data.entries()) {
    const [amount, status] = decided;
    expect(row).toMatchObject({
      rank: index + 1,
      final_rank: board.round.status === 'settled' ? index + 1 : null,
      payout_amount: amount === undefined ? ['5.00', '3.00'][index] : amount,
      // A release that is not repeated may not have begun.
      payout_status: flow === 'grant' && index === 0 ? expect.stringMatching(/^(paid|held)$/) : status,
    });
  }
  return board;
}

async function verifyNextRound(world: World, { round }: Scene): Promise<void> {
  const { data } = await insist(200, () => world.partner.listTournaments('all'));
  const tournament: Tournament | undefined = data.find(({ id }) => id === round?.tournament_id);
  expect(tournament).toMatchObject({ status: 'active', current_round: { status: 'open', entrant_count: 0 } });
  const rounds = await world.stack
    .database('tournament')
    .query<{ number: number; status: string }>(
      'select number, status from rounds where tournament_id = $1 order by number',
      [round?.tournament_id],
    );
  expect(rounds).toEqual([
    { number: 1, status: 'cancelled' },
    { number: 2, status: 'open' },
  ]);
}

/** Every 2xx of this case agrees with what is read now, and no key has two different responses. */
function verifyJournal(
  scene: Scene,
  journal: readonly JournalEntry[],
  read: ReadonlyMap<string, Attempt>,
  board: Leaderboard | undefined,
): void {
  const byKey = new Map<string, string>();
  for (const { idempotencyKey, path, answer } of journal) {
    if (answer.status < 200 || answer.status > 299) continue;
    if (idempotencyKey !== undefined) {
      const known = byKey.get(idempotencyKey);
      expect(answer.text, findingMessage('one key, one answer')).toBe(known ?? answer.text);
      byKey.set(idempotencyKey, answer.text);
    }
    if (path === '/v1/attempts') {
      const created = answer.body as Attempt;
      const { status: _status, outcome: _outcome, ...frozen } = created;
      expect(created).toMatchObject({ status: 'open', outcome: null, player_ref: scene.refs[0] });
      expect(read.get(created.id), findingMessage(`the attempt of a 201: ${answer.text}`)).toMatchObject(frozen);
    } else if (path.endsWith('/outcome')) {
      const answered = answer.body as Outcome;
      const { award, ...facts } = answered;
      const now = read.get(answered.attempt_id)?.outcome;
      expect(now, findingMessage(`the outcome of a 200: ${answer.text}`)).toMatchObject(facts);
      expect(now?.award?.id).toBe(award?.id);
      if (award?.payout_status === 'paid') expect(now?.award?.paid_at).toBe(award.paid_at);
    } else if (path.endsWith('/expire') || path.endsWith('/void')) {
      const ended = answer.body as Attempt;
      expect(read.get(ended.id)).toEqual(ended);
    } else if (path.endsWith('/close')) {
      expect(board?.round, findingMessage(`the round of a 200: ${answer.text}`)).toEqual(answer.body);
    } else if (path.endsWith('/cancel')) {
      const { status: _status, entrant_count: _entrants, ...shown } = answer.body as OperatorRoundBody;
      const { cancellation, program_id: _program, environment: _environment, ...kept } = shown;
      expect(cancellation).toMatchObject({ cancelled_at: kept.closes_at, reason: ANNULLED_FOR });
      // The response may come before an entry under way is resolved.
      expect(board?.round, findingMessage(`the round of a 200: ${answer.text}`)).toMatchObject({
        ...kept,
        status: 'cancelled',
      });
    } else if (path.endsWith('/release') && board !== undefined) {
      expect('data' in board && board.data[0]?.payout_status).toBe('paid');
    } else if (path.endsWith('/release')) {
      expect(read.size).toBeGreaterThan(0);
      expect([...read.values()].every((attempt) => attempt.outcome?.award?.paid_at != null)).toBe(true);
    }
  }
}
