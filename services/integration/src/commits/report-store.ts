/**
 * What this service stores about reports that name a player. The statements of concurrent reports
 * are coalesced.
 */
import { createCoalescer } from '@laurel/coalesce';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import { failpoint } from '../failpoints.ts';
import { insertListenedSamples, type ListenedSample } from '../repository/listened-samples.ts';
import {
  bindReports,
  findReports,
  type KnownReport,
  type ReportAttempt,
  type ReportKey,
} from '../repository/report-attempts.ts';

export interface ReportStore {
  /** Null for an unknown report. */
  find(key: ReportKey): Promise<KnownReport | null>;
  /**
   * Binds the report to this attempt, unless it is bound already. Returns the attempt that it is
   * bound to.
   */
  bind(pair: ReportAttempt): Promise<string>;
  listen(sample: ListenedSample): Promise<void>;
}

export function createReportStore({ database }: { database: Database }): ReportStore {
  const isolate = (error: unknown) => !isConnectionFailure(error);
  const finds = createCoalescer<ReportKey, KnownReport | null>({
    name: 'integration.find-reports',
    lanes: 2,
    isolate,
    run: (keys) => findReports(database, keys),
  });
  const binds = createCoalescer<ReportAttempt, string>({
    name: 'integration.bind-reports',
    lanes: 2,
    isolate,
    run: async (pairs) => {
      const attemptIds = await bindReports(database, pairs, () => failpoint('integration.bind.before-commit'));
      await failpoint('integration.bind.after-commit');
      return attemptIds;
    },
  });
  const samples = createCoalescer<ListenedSample, void>({
    name: 'integration.listen',
    isolate,
    run: async (batch) => {
      await insertListenedSamples(database, batch, () => failpoint('integration.listen.before-commit'));
      await failpoint('integration.listen.after-commit');
      return batch.map(() => undefined);
    },
  });
  return {
    find: (key) => finds.submit(key),
    bind: (pair) => binds.submit(pair),
    listen: (sample) => samples.submit(sample),
  };
}
