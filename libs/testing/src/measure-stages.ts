import { type BoundStatement, createStageSampler, type Database } from '@laurel/postgres';
import { metrics } from '@laurel/telemetry';

/** Runs the statements as a service's sampler does, and reads its metrics: of each stage that has any, how many, and the age in seconds. */
export async function measureStages(
  database: Database,
  statements: readonly BoundStatement[],
  now: Date,
): Promise<Readonly<Record<string, readonly [items: number, oldestSeconds: number]>>> {
  await createStageSampler(database, statements).runOnce(now);
  const oldest = await valuesOf('laurel_unfinished_oldest_seconds');
  return Object.fromEntries(
    [...(await valuesOf('laurel_unfinished_items'))].flatMap(([stage, items]) =>
      items === 0 ? [] : [[stage, [items, oldest.get(stage) ?? Number.NaN]]],
    ),
  );
}

async function valuesOf(name: string): Promise<ReadonlyMap<string, number>> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return new Map(values.map(({ labels, value }) => [String(labels.stage), value]));
}
