/**
 * Sends a partner's requests during a fault, and records what the responses promised the partner.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Outcome } from '@laurel/sdk';
import {
  type Answer,
  countsOf,
  findingMessage,
  type HttpClient,
  type JoinableStack,
  type Partner,
  push,
} from '@laurel/testing';
import { expect } from 'vitest';
import { newTarget, type Target } from '../integrations/target.ts';
import { eventually, type Program, type SharedWorld } from '../world.ts';

/** A program of a stack, in the environment `test`, in which loads play. */
export interface ProgramUnderLoad {
  readonly world: Pick<SharedWorld, 'newChallenge' | 'newRound' | 'http'>;
  readonly program: Program;
}

/**
 * What one load plays: the partner, whose client knows the base URLs, and the partner's contests.
 */
interface Scene {
  readonly partner: Partner;
  readonly http: HttpClient;
  /** The integration to which the partner's game servers push some of the scores. */
  readonly target: Target;
  /** Each player loses here, often: fee 1.00, and a score of 1 does not clear the bar. */
  readonly challengeId: string;
  /** Each player wins here once: fee 1.00, prize 5.00, and a score of 100 clears the bar. */
  readonly prizeId: string;
  /** Open during the whole load: entry 1.00. */
  readonly roundId: string;
}

export interface LoadOptions {
  readonly players: number;
  /**
   * Requests that begin each second, whether or not earlier ones have a response; repeated requests
   * come on top. Without it every player begins a request after the response to the previous one.
   */
  readonly requestsPerSecond?: number;
  /**
   * The codes, or statuses without one, after which a request is repeated with its key; `0` is a
   * connection that was refused or that ended without a response. Any other failure fails the test.
   */
  readonly retried?: readonly string[];
  /** How long a request may be repeated. */
  readonly waitMs: number;
}

/** An attempt as the responses to the partner showed it. */
interface AcknowledgedAttempt {
  readonly id: string;
  readonly player_ref: string;
  readonly contestService: 'challenge' | 'tournament';
  readonly status: 'settled' | 'expired';
  /** The outcome is set for a settled attempt. */
  readonly outcome: { readonly receipt_id: string; readonly score: number } | undefined;
  readonly isWin: boolean;
  /** Whether a signed push settled the attempt, instead of a report by /v1. */
  readonly isPushed: boolean;
}

export interface Load {
  /** The refs of the players, which only this load's requests name. */
  readonly refs: readonly string[];
  /** The milliseconds of each response so far, including failures. */
  readonly latencies: readonly number[];
  /** How many responses with each code led to a repetition. */
  readonly resent: Readonly<Record<string, number>>;
  /** Every attempt whose creation and end were both acknowledged. */
  readonly attempts: readonly AcknowledgedAttempt[];
  /** Resolves after this many further responses. */
  more(answers: number): Promise<void>;
  /** Resolves when another attempt scored by a push is acknowledged. */
  pushed(): Promise<void>;
}

/** A load that has ended: every request succeeded in the end. */
export interface EndedLoad extends Load {
  /** Requests begun each second; a repeated request counts once. */
  readonly requestsPerSecond: number;
}

/** One flow: an attempt is created, ended and read. */
const REQUESTS_OF_A_FLOW = 3;
/** The number of each player's winning flow, which neither enters the round nor expires. */
const WINNING_FLOW = 5;
const FUNDS_CENTS = 500_000n;
const FEE_CENTS = 100n;
const PRIZE_CENTS = 500n;
/** A partner waits `first` before a repetition, then twice as long each time, up to `longest`. */
const RETRY_PAUSE_MS = { first: 50, longest: 1_000 };

/**
 * The lowest pass rate that a challenge here claims. Only some 15,000 losses would refute it, and
 * its drift monitor would suspend the challenge (services/challenge/src/domain/drift-monitor.ts).
 * No load plays as many.
 */
const RARELY_CLEARED = 0.001;
/** Wins alone never refute this claim: its band reaches 1.5 times 0.9, more than all attempts. */
const MOSTLY_CLEARED = 0.9;

async function setScene({ world: { newChallenge, newRound, http }, program }: ProgramUnderLoad): Promise<Scene> {
  const challenge = await newChallenge({ target_pass_rate: RARELY_CLEARED }, program);
  const prize = await newChallenge({ target_pass_rate: MOSTLY_CLEARED }, program);
  const round = await newRound({ attempt_cap: 100_000 }, program);
  const target = await newTarget(program.test);
  return { partner: program.test, http, target, challengeId: challenge.id, prizeId: prize.id, roundId: round.id };
}

/**
 * Runs `disturb` while players play. Each call has separate players and contests. Resolves once the
 * players have ended their attempts.
 */
export async function underLoad(
  loaded: ProgramUnderLoad,
  options: LoadOptions,
  disturb: (load: Load) => Promise<void>,
): Promise<EndedLoad> {
  const scene = await setScene(loaded);
  const refs = Array.from({ length: options.players }, () => randomUUID());
  const requests = createRequests(options);
  for (const ref of refs) await requests.ask(201, () => scene.partner.createPlayer(ref, '5000.00'));
  requests.reset();
  const attempts: AcknowledgedAttempt[] = [];
  const awaitingPush = new Set<() => void>();
  let isOver = false;
  const startedAt = performance.now();

  const play = async (player: number, flow: number): Promise<void> => {
    const attempt = await playFlow(scene, requests.ask, { player_ref: refs[player] ?? '', player, flow });
    attempts.push(attempt);
    if (attempt.isPushed) for (const reached of awaitingPush) reached();
  };
  const playAtOwnPace = async (player: number): Promise<void> => {
    for (let flow = 0; !isOver; flow += 1) await play(player, flow);
  };
  const { requestsPerSecond } = options;
  const players =
    requestsPerSecond === undefined
      ? Promise.all([...refs.keys()].map(playAtOwnPace))
      : beginAtRate(requestsPerSecond / REQUESTS_OF_A_FLOW, {
          isOver: () => isOver,
          begin: (index) => play(index % refs.length, Math.floor(index / refs.length)),
        });
  const load: Load = {
    refs,
    latencies: requests.latencies,
    get resent() {
      return countsOf(requests.failures);
    },
    attempts,
    // If a request of a player fails, this wait ends, and the load with it.
    more: (answers) => requests.more(answers, players),
    pushed: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaitingPush.add(resolve);
      await Promise.race([promise, players]).finally(() => awaitingPush.delete(resolve));
    },
  };
  let tookMs = 0;
  const end = async () => {
    await disturb(load).finally(() => {
      isOver = true;
      tookMs = performance.now() - startedAt;
    });
  };
  await Promise.all([end(), players]);
  return { ...load, resent: load.resent, requestsPerSecond: (requests.begun() * 1_000) / tookMs };
}

type Ask = <Body>(status: number, send: (key: string) => Promise<Answer<Body>>) => Promise<Body>;

/** Repeats each request until it succeeds, with a separate key. */
function createRequests({ retried = [], waitMs }: LoadOptions) {
  const latencies: number[] = [];
  const failures: string[] = [];
  const waiting = new Set<{ readonly target: number; readonly reached: () => void }>();
  let begun = 0;

  const ask: Ask = async (status, send) => {
    const key = randomUUID();
    const deadline = performance.now() + waitMs;
    begun += 1;
    let isAgain = false;
    for (let pauseMs = RETRY_PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, RETRY_PAUSE_MS.longest)) {
      const sentAt = performance.now();
      const answer = await send(key);
      latencies.push(performance.now() - sentAt);
      for (const { target, reached } of waiting) if (latencies.length >= target) reached();
      if (answer.status === status) return answer.body;
      // An earlier try has expired the attempt, and its response was lost.
      if (isAgain && answer.code === 'attempt_already_settled') return answer.body;
      const failure = answer.code ?? String(answer.status);
      expect(retried, answer.text).toContain(failure);
      failures.push(failure);
      isAgain = true;
      if (performance.now() > deadline) throw new Error(`waited ${waitMs} ms in vain for ${status}: ${answer.text}`);
      await delay(pauseMs);
    }
  };
  return {
    ask,
    latencies,
    failures,
    begun: () => begun,
    reset: () => {
      latencies.length = 0;
      failures.length = 0;
      begun = 0;
    },
    more: async (answers: number, players: Promise<unknown>) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wait = { target: latencies.length + answers, reached: resolve };
      waiting.add(wait);
      await Promise.race([promise, players]).finally(() => waiting.delete(wait));
    },
  };
}

async function playFlow(
  { partner, http, target, challengeId, prizeId, roundId }: Scene,
  ask: Ask,
  { player_ref, player, flow }: { readonly player_ref: string; readonly player: number; readonly flow: number },
): Promise<AcknowledgedAttempt> {
  const isWin = flow === WINNING_FLOW;
  const isEntry = flow % 3 === 0;
  const isExpired = flow % 4 === 3;
  const parent = isEntry ? { tournament_round_id: roundId } : { challenge_id: isWin ? prizeId : challengeId };
  const { id } = await ask(201, (key) => partner.createAttempt({ ...parent, player_ref }, key));
  // Players that play at the same time push in different flows, so that at every moment some
  // pushes are under way or about to begin.
  const isPushed = !isEntry && !isExpired && (flow + player) % 4 === 2;
  const acknowledged = {
    id,
    player_ref,
    contestService: isEntry ? 'tournament' : 'challenge',
    isWin,
    isPushed,
  } as const;
  if (isExpired) {
    await ask(200, () => partner.expireAttempt(id));
    expect(await ask(200, () => partner.getAttempt(id))).toMatchObject({ status: 'expired', outcome: null });
    return { ...acknowledged, status: 'expired', outcome: undefined };
  }
  const score = isWin ? 100 : 1;
  // The body of a push serves as its key: the same body gets the first response again.
  const { receipt_id } = await ask<Outcome>(200, (key) =>
    isPushed ? push(http, target, { attempt_id: id, score }) : partner.reportOutcome(id, { score }, key),
  );
  const outcome = { receipt_id, score };
  expect(await ask(200, () => partner.getAttempt(id))).toMatchObject({ status: 'settled', outcome });
  return { ...acknowledged, status: 'settled', outcome };
}

/**
 * Begins flows at a fixed rate until `isOver`, however long earlier flows take. Resolves when all
 * have ended; rejects with the error of the first flow that fails.
 */
async function beginAtRate(
  flowsPerSecond: number,
  { isOver, begin }: { readonly isOver: () => boolean; readonly begin: (index: number) => Promise<void> },
): Promise<void> {
  const startedAt = performance.now();
  const failed = Promise.withResolvers<never>();
  const flows: Promise<void>[] = [];
  for (let index = 0; !isOver(); index += 1) {
    const due = startedAt + (index * 1_000) / flowsPerSecond;
    const waitMs = due - performance.now();
    if (waitMs > 0) await Promise.race([delay(waitMs), failed.promise]);
    flows.push(begin(index).catch(failed.reject));
  }
  await Promise.race([Promise.all(flows), failed.promise]);
}

/**
 * Asserts that the databases have exactly the acknowledged attempts, unchanged, each charged once,
 * refunded once if it expired and paid once if it won. Call it when no event is in transit, because
 * refunds and prizes are recorded after the responses.
 */
export async function expectAcknowledged(stack: Pick<JoinableStack, 'database'>, load: Load): Promise<void> {
  const { attempts, refs } = load;
  for (const contestService of ['challenge', 'tournament'] as const) {
    const own = attempts.filter((attempt) => attempt.contestService === contestService);
    const read = () =>
      stack.database(contestService).query<{ status: string }>(
        `select a.id, a.player_ref, a.status, o.receipt_id, o.score
         from attempts a left join outcomes o on o.attempt_id = a.id where a.player_ref = any($1::text[]) order by a.id`,
        [refs],
      );
    await eventually(
      async () => (await read()).every(({ status }) => status !== 'pending') || undefined,
      `no attempt of ${contestService} is pending`,
    );
    const known = own.map(({ id, player_ref, status, outcome }) => ({
      id,
      player_ref,
      status,
      receipt_id: outcome?.receipt_id ?? null,
      score: outcome?.score ?? null,
    }));
    expect(await read(), findingMessage(`the acknowledged attempts of ${contestService}`)).toEqual(
      known.toSorted(byId),
    );
  }
  const money = await stack.database('wallet').query<{ kind: string; attempt_id: string; amount_cents: bigint }>(
    `select t.kind, t.attempt_id, t.amount_cents from transfers t
     where t.kind <> 'deposit' and t.state = 'posted' and t.player_ledger_id in
       (select a.id from ledger_accounts a join player_links l on l.account_id = a.account_id
        where l.player_ref = any($1::text[]) and a.environment = 'test')`,
    [refs],
  );
  const movements = attempts.flatMap(({ id, status, isWin }) => [
    `fee ${id} ${FEE_CENTS}`,
    ...(status === 'expired' ? [`refund ${id} ${FEE_CENTS}`] : []),
    ...(isWin ? [`award ${id} ${PRIZE_CENTS}`] : []),
  ]);
  const moved = money.map((row) => `${row.kind} ${row.attempt_id} ${row.amount_cents}`);
  expect(moved.sort(), findingMessage('the money of the acknowledged attempts')).toEqual(movements.sort());
  for (const ref of refs) await expectBalance(stack, load, ref);
}

async function expectBalance(stack: Pick<JoinableStack, 'database'>, { attempts }: Load, ref: string): Promise<void> {
  const own = attempts.filter(({ player_ref }) => player_ref === ref);
  const fees = BigInt(own.filter(({ status }) => status === 'settled').length) * FEE_CENTS;
  const prizes = BigInt(own.filter(({ isWin }) => isWin).length) * PRIZE_CENTS;
  const rows = await stack.database('wallet').query(
    `select a.balance_cents from ledger_accounts a join player_links l on l.account_id = a.account_id
     where l.player_ref = $1 and a.environment = 'test'`,
    [ref],
  );
  expect(rows, findingMessage(`the balance of ${ref}`)).toEqual([{ balance_cents: FUNDS_CENTS - fees + prizes }]);
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}
