/** Paid flows on the filled stack and on an empty one of the same checkout, by turns. */
import { fileURLToPath } from 'node:url';
import { startOtherRun } from '../other-run.ts';
import { median } from '../statistics.ts';
import { benchShapeOf, type MeasuredTurn, type TurnOrder } from '../turns.ts';
import type { Figure } from './figures.ts';

/** Turns of each stack at each number of clients, after a turn that warms up. */
export const FLOW_TURNS = 4;

export async function measureFlows(on: {
  readonly clientCounts: readonly number[];
  readonly durationMs: number;
  readonly take: (order: TurnOrder) => Promise<MeasuredTurn>;
}): Promise<readonly Figure[]> {
  const { clientCounts, durationMs, take } = on;
  const seconds = (durationMs / 1000) * clientCounts.length * (FLOW_TURNS + 1);
  const checkout = fileURLToPath(new URL('../..', import.meta.url));
  const shape = benchShapeOf(process.env.LAUREL_BENCH_SHAPE);
  const empty = await startOtherRun({ checkout, name: 'empty', shape, seconds });
  const taken: { readonly filled: MeasuredTurn[]; readonly empty: MeasuredTurn[] } = { filled: [], empty: [] };
  for (let turn = 0; turn <= FLOW_TURNS; turn += 1) {
    for (const clients of clientCounts) {
      const order = { clients, durationMs };
      for (const side of turn % 2 === 0 ? (['empty', 'filled'] as const) : (['filled', 'empty'] as const)) {
        const measured = side === 'empty' ? await empty.take(order) : await take(order);
        if (measured.failures > 0) throw new Error(`${measured.failures} flows of the ${side} stack failed`);
        if (turn > 0) taken[side].push(measured);
      }
    }
  }
  if (!(await empty.end())) throw new Error('the run of the empty stack failed');
  return clientCounts.flatMap((clients) =>
    (['empty', 'filled'] as const).map((side): Figure => {
      const turns = taken[side].filter((turn) => turn.clients === clients);
      const cpu = median(turns.map(({ cpuMs }) => cpuMs.postgres ?? 0));
      return {
        name: `flows, ${clients} client${clients === 1 ? '' : 's'}, ${side} stack`,
        perSecond: median(turns.map(({ flowsPerSecond }) => flowsPerSecond)),
        p99Ms: median(turns.map(({ p99Ms }) => p99Ms)),
        note: `PostgreSQL: ${cpu.toFixed(3)} CPU ms a flow`,
      };
    }),
  );
}
