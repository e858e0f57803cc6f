import { type BoundStatement, createStageSampler, type Database } from '@laurel/postgres';
import { metrics } from '@laurel/telemetry';

const ITEMS = 'laurel_unfinished_items';
const OLDEST = 'laurel_unfinished_oldest_seconds';

type Stages = Readonly<Record<string, readonly [items: number, oldestSeconds: number]>>;

/**
 * Runs the statements like a service's sampler, and reads the metrics: the count and age in seconds
 * of each stage with work, over both environments. First it removes the figures that earlier tests
 * left in this process's metrics.
 */
export async function measureStages(
  database: Database,
  statements: readonly BoundStatement[],
  now: Date,
): Promise<Stages> {
  const { live, test } = await measureStagesByEnvironment(database, statements, now);
  const stages = new Set([...Object.keys(live), ...Object.keys(test)]);
  return Object.fromEntries(
    [...stages].map((stage) => {
      const [[ofLive, ageOfLive], [ofTest, ageOfTest]] = [live[stage] ?? [0, 0], test[stage] ?? [0, 0]];
      return [stage, [ofLive + ofTest, Math.max(ageOfLive, ageOfTest)]];
    }),
  );
}

/** Measures the stages like `measureStages`, separately for each environment. */
export async function measureStagesByEnvironment(
  database: Database,
  statements: readonly BoundStatement[],
  now: Date,
): Promise<Readonly<Record<'live' | 'test', Stages>>> {
  for (const name of [ITEMS, OLDEST]) metrics.getSingleMetric(name)?.reset();
  await createStageSampler(database, statements).runOnce(now);
  return { live: await stagesOf('live'), test: await stagesOf('test') };
}

async function stagesOf(environment: 'live' | 'test'): Promise<Stages> {
  const [items, oldest] = [await valuesOf(ITEMS, environment), await valuesOf(OLDEST, environment)];
  return Object.fromEntries(
    [...items].flatMap(([stage, count]) =>
      count === 0 ? [] : [[stage, [count, oldest.get(stage) ?? Number.NaN] as const]],
    ),
  );
}

async function valuesOf(name: string, environment: 'live' | 'test'): Promise<ReadonlyMap<string, number>> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  const ofIt = values.filter(({ labels }) => labels.environment === environment);
  return new Map(ofIt.map(({ labels, value }) => [String(labels.stage), value]));
}
