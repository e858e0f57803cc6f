/**
 * Measures the work of a service that has begun and not ended, by its stage: how much there is, and since when the oldest of it waits. It
 * runs on a timer, so that a scrape costs no query. Every replica measures the same rows, so a reader of the metrics takes the largest.
 */
import { gauge } from '@laurel/telemetry';
import type { BoundStatement, Database } from './database.ts';

const SAMPLE_INTERVAL_MS = 15_000;

/** Rows of a stage are counted up to this number, so that a backlog does not make its measurement slow. */
export const MAX_COUNTED = 10_000;

/** Rows that are read to count those of one environment, so that a backlog of play money does not hide real money's. */
export const MAX_WALKED = 100_000;

/** SQL: both environments, as `known (environment)`. A stage of real money is apart from the same of play money. */
export const EACH_ENVIRONMENT = `(values ('live'), ('test')) known (environment)`;

/** A statement about stages answers one row for each of them and environment, also where there is none of it. */
type StageRow = {
  readonly stage: string;
  readonly environment: 'live' | 'test';
  readonly items: number;
  /** Null where there is none, or its age is not measured. */
  readonly oldest_seconds: number | null;
};

/** A worker of the service, the last of its workers. */
export interface StageSampler {
  readonly name: string;
  readonly intervalMs: number;
  /** `now` is the database's time. */
  readonly runOnce: (now: Date) => Promise<void>;
}

/** Each statement has the instant of the measurement as `$1`, and its own values behind it. Its columns are those of a StageRow. */
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
