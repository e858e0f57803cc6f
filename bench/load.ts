// One load process: runs what its parent asks for over HTTP and sends back latencies. It is a process of its own so that
// its CPU time is measured apart from the system's.
import { HttpConnection } from './http-connection.ts';
import { type BenchProgram, type Flow, type PlayerState, playersOf, runPaidFlow, runRoundFlow } from './paid-flow.ts';

/** Sent by the parent. `ratePerSecond` undefined means closed loop: each client starts its next flow when the last one ended. */
export interface LoadRequest {
  readonly host: string;
  readonly port: number;
  readonly programs: readonly BenchProgram[] | undefined;
  readonly flow: Flow;
  readonly clients: number;
  readonly durationMs: number;
  readonly ratePerSecond: number | undefined;
}

/** The reply to the parent. In an open loop a flow's latency counts from the moment it was due, not from when it was sent. */
export interface LoadResult {
  readonly flows: number;
  readonly failures: number;
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
}

/** Players that are in no flow, the one that rested longest first; a player is in one flow at a time. */
const free: PlayerState[] = [];

process.on('message', (request: LoadRequest) => {
  if (request.programs) {
    free.push(...playersOf(request.programs));
  }
  void run(request).then((result) => process.send?.(result));
});

async function run(request: LoadRequest): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let failures = 0;
  const started = performance.now();
  const end = started + request.durationMs;
  const interval = request.ratePerSecond === undefined ? undefined : 1000 / request.ratePerSecond;
  let issued = 0;
  const runFlow = request.flow === 'round' ? runRoundFlow : runPaidFlow;

  const client = async () => {
    const connection = new HttpConnection(request.host, request.port);
    while (performance.now() < end) {
      let due = performance.now();
      if (interval !== undefined) {
        due = started + issued * interval;
        issued += 1;
        if (due >= end) break;
        const wait = due - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      }
      const player = free.shift();
      if (player === undefined) throw new Error('more clients than players');
      try {
        if (!(await runFlow(connection, player))) failures += 1;
      } catch (error) {
        failures += 1;
        process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
      }
      latenciesMs.push(performance.now() - due);
      free.push(player);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: request.clients }, client));
  return { flows: latenciesMs.length, failures, elapsedMs: performance.now() - started, latenciesMs };
}
