// One load process: it runs its parent's orders over HTTP and returns latencies. It is a separate
// process so that its CPU time is measured apart from the system's.
import { HttpConnection } from './http-connection.ts';
import { type AttemptsRequest, createOutcomes, type OutcomesRequest } from './outcomes.ts';
import { type BenchProgram, type Flow, runPaidFlow, runRoundFlow } from './paid-flow.ts';
import { type Assignment, createPlayerPool, type Play, type PlayerPool } from './player-pool.ts';
import { createRandom, createWinSequence, type FlowResult, type Flows } from './winning-flows.ts';

/**
 * The parent sends this request. Without `ratePerSecond` the loop is closed: each client starts its
 * next flow when the last one has ended.
 */
export interface LoadRequest {
  readonly kind: 'flows';
  /** The clients connect to these gateways in turn. */
  readonly gateways: readonly Gateway[];
  readonly programs: readonly BenchProgram[] | undefined;
  readonly flow: Flow;
  readonly clients: number;
  readonly durationMs: number;
  readonly ratePerSecond: number | undefined;
}

export interface Gateway {
  readonly host: string;
  readonly port: number;
}

/** The parent's order: flows; or attempts to create, and later the outcomes of these attempts. */
export type LoadOrder = LoadRequest | AttemptsRequest | OutcomesRequest;

/**
 * The reply to the parent, for flows and for outcomes, in the order in which they started. In an
 * open loop a flow's latency counts from when it was due, not from when it was sent.
 */
export interface LoadResult extends Flows {
  readonly elapsedMs: number;
}

const PLAYER_POOL_SEED = 1;
const isNextWin = createWinSequence();
const outcomes = createOutcomes();
let pool: PlayerPool | undefined;

process.on('message', (order: LoadOrder) => {
  if (order.kind === 'flows' && order.programs) pool = createPlayerPool(order.programs, createRandom(PLAYER_POOL_SEED));
  if (pool === undefined) throw new Error('the first request brings the programs');
  void obey(order, pool).then((result) => process.send?.(result));
});

async function obey(order: LoadOrder, players: PlayerPool): Promise<LoadResult | 'created'> {
  switch (order.kind) {
    case 'flows':
      return await run(order, players);
    case 'attempts':
      await outcomes.create(order, players, isNextWin);
      return 'created';
    case 'outcomes':
      return await outcomes.settle(order);
  }
}

async function run(request: LoadRequest, players: PlayerPool): Promise<LoadResult> {
  const results: FlowResult[] = [];
  const latenciesMs: number[] = [];
  const started = performance.now();
  const end = started + request.durationMs;
  const interval = request.ratePerSecond === undefined ? undefined : 1000 / request.ratePerSecond;
  let issued = 0;

  const client = async (number: number) => {
    const gateway = request.gateways[number % request.gateways.length];
    if (gateway === undefined) throw new Error('a load on no gateway');
    const connection = new HttpConnection(gateway.host, gateway.port);
    while (performance.now() < end) {
      let due = performance.now();
      if (interval !== undefined) {
        due = started + issued * interval;
        issued += 1;
        if (due >= end) break;
        const wait = due - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      }
      const play = request.flow === 'round' ? 'entry' : isNextWin() ? 'win' : 'loss';
      const assignment = players.take(play);
      const index = results.push('failed') - 1;
      if (await runFlow(connection, assignment, play)) results[index] = play === 'win' ? 'won' : 'lost';
      latenciesMs[index] = performance.now() - due;
      assignment.release();
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: request.clients }, (_, number) => client(number)));
  return { results, latenciesMs, elapsedMs: performance.now() - started };
}

async function runFlow(connection: HttpConnection, { player, challengeId }: Assignment, play: Play): Promise<boolean> {
  try {
    if (play === 'entry') return await runRoundFlow(connection, player);
    return await runPaidFlow(connection, player, { challengeId, wins: play === 'win' });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return false;
  }
}
