// A second run of the benchmark beside this one, on its own stack. It runs one turn for each order.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type BenchShape, type MeasuredTurn, READY_PREFIX, type Ready, TURN_PREFIX, type TurnOrder } from './turns.ts';

export interface OtherRun {
  /** The time is undefined in an older checkout, which does not measure it. */
  readonly timeToReadyMs: number | undefined;
  take(order: TurnOrder): Promise<MeasuredTurn>;
  /**
   * Ends the stack after its audit. True if every flow had the expected response and every
   * invariant holds.
   */
  end(): Promise<boolean>;
}

/** Starts the checkout's benchmark, and waits for its stack. `seconds` is the time of all turns. */
export async function startOtherRun(of: {
  readonly checkout: string;
  readonly name: string;
  readonly shape: BenchShape;
  readonly seconds: number;
}): Promise<OtherRun> {
  const { checkout, name, seconds } = of;
  const { LAUREL_BENCH_DATA: _, ...environment } = process.env;
  const child = spawn('node', ['deploy/local/bootstrap.mjs', 'bench/run.ts'], {
    cwd: checkout,
    env: {
      ...environment,
      LAUREL_BENCH_PARTS: 'turns',
      LAUREL_BENCH_SHAPE: of.shape,
      LAUREL_BENCH_SECONDS: String(seconds),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  const exited = once(child, 'exit').then(([code]) => code === 0);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (prefix: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the run of ${checkout} ended`);
      if (value.startsWith(prefix)) return value.slice(prefix.length);
    }
  };
  const { shape, timeToReadyMs }: Partial<Ready> = JSON.parse((await next(READY_PREFIX)) || '{}');
  // An older checkout knows no shapes, and has a process for each service.
  if ((shape ?? 'six') !== of.shape) throw new Error(`${checkout} does not run as ${of.shape}`);
  return {
    timeToReadyMs,
    async take(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return JSON.parse(await next(TURN_PREFIX)) as MeasuredTurn;
    },
    async end() {
      child.stdin.end();
      for (let line = await lines.next(); !line.done; line = await lines.next()) console.log(`${name}: ${line.value}`);
      return exited;
    },
  };
}
