import { type BoundStatement, createStageSampler, type Database } from '@laurel/postgres';
import { metrics } from '@laurel/telemetry';

const ITEMS = 'laurel_unfinished_items';
const OLDEST = 'laurel_unfinished_oldest_seconds';

/**
 * Runs the statements as a service's sampler does, and reads its metrics: of each stage that has any, how many, and the age in seconds. The
 * metrics are the process's: what samplers of tests before this one left in them is removed first.
 */
export async function measureStages(
  database: Database,
  statements: readonly BoundStatement[],
  now: Date,
): Promise<Readonly<Record<string, readonly [items: number, oldestSeconds: number]>>> {
  for (const name of [ITEMS, OLDEST]) metrics.getSingleMetric(name)?.reset();
  await createStageSampler(database, statements).runOnce(now);
  const oldest = await valuesOf(OLDEST);
  return Object.fromEntries(
    [...(await valuesOf(ITEMS))].flatMap(([stage, items]) =>
      items === 0 ? [] : [[stage, [items, oldest.get(stage) ?? Number.NaN]]],
    ),
  );
}

async function valuesOf(name: string): Promise<ReadonlyMap<string, number>> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return new Map(values.map(({ labels, value }) => [String(labels.stage), value]));
}
