/**
 * Measures a service's unfinished work by stage: how many items there are, and how long the oldest
 * has waited. It runs on a timer, so that a scrape costs no query. Every replica measures the same
 * rows, so readers of the metrics take the maximum, not the sum.
 */
import { gauge } from '@laurel/telemetry';
import type { BoundStatement, Database } from './database.ts';

const SAMPLE_INTERVAL_MS = 15_000;

/** The count of a stage stops here, so that a backlog does not slow its own measurement. */
export const MAX_COUNTED_ITEMS = 10_000;

/**
 * The most rows that a statement reads to count the items of one environment. Each environment has
 * its own limit, so that a backlog of play money does not hide real money.
 */
export const MAX_WALKED_ROWS = 100_000;

/**
 * SQL: both environments, as `known (environment)`. It keeps the stages of real money apart from
 * those of play money.
 */
export const EACH_ENVIRONMENT = `(values ('live'), ('test')) known (environment)`;

/** A statement returns one row for each stage and environment, even if there is no work. */
type StageRow = {
  readonly stage: string;
  readonly environment: 'live' | 'test';
  readonly items: number;
  /** Null if there is no work, or its age is not measured. */
  readonly oldest_seconds: number | null;
};

/** A worker of the service, which starts after all others. */
export interface StageSampler {
  readonly name: string;
  readonly intervalMs: number;
  /** `now` is the database's time. */
  readonly runOnce: (now: Date) => Promise<void>;
}

/**
 * Each statement gets the instant of the measurement as `$1`, then its own values, and returns
 * StageRows.
 */
export function createStageSampler(database: Database, statements: readonly BoundStatement[]): StageSampler {
  const items = gauge(
    'laurel_unfinished_items',
    'Work that has begun and not ended, by its stage and environment, counted up to 10000.',
    ['stage', 'environment'],
  );
  const oldest = gauge(
    'laurel_unfinished_oldest_seconds',
    'How long the oldest work of a stage has been in it, or past its deadline; 0 where there is none.',
    ['stage', 'environment'],
  );
  return {
    name: 'sample-stages',
    intervalMs: SAMPLE_INTERVAL_MS,
    async runOnce(now) {
      const bound = statements.map(({ statement, values = [] }) => ({ statement, values: [now, ...values] }));
      const answers = await database.batch<readonly StageRow[]>(bound);
      for (const row of answers.flat()) {
        const { stage, environment } = row;
        items.set({ stage, environment }, row.items);
        oldest.set({ stage, environment }, row.oldest_seconds ?? 0);
      }
    },
  };
}
