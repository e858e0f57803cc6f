/**
 * Stores the percentiles with which partners seeded challenges. The commit that sets the bar of a
 * challenge writes the percentiles together with the bar that follows from them.
 */

import type { Queryable } from '@laurel/postgres';
import type { Distribution } from '../domain/calibration.ts';

type SeededDistribution = {
  readonly challengeId: string;
  readonly operationId: string;
  readonly distribution: Distribution;
  readonly sampleSize: bigint;
  readonly threshold: number;
  readonly seededAt: Date;
};

type SeededDistributionRow = Distribution & {
  readonly challenge_id: string;
  readonly operation_id: string;
  readonly sample_size: bigint;
  readonly threshold: number;
  readonly seeded_at: Date;
};

const INSERT = {
  text: `
insert into seeded_distributions (challenge_id, operation_id, p5, p25, p50, p75, p95, sample_size, threshold, seeded_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
};

const SELECT_BY_OPERATION = { text: 'select * from seeded_distributions where operation_id = $1' };

const SELECT_BY_CHALLENGE = { text: 'select * from seeded_distributions where challenge_id = $1' };

export async function insertSeededDistribution(on: Queryable, seeded: SeededDistribution): Promise<void> {
  const { p5, p25, p50, p75, p95 } = seeded.distribution;
  const { challengeId, operationId, sampleSize, threshold, seededAt } = seeded;
  await on.query(INSERT, [challengeId, operationId, p5, p25, p50, p75, p95, sampleSize, threshold, seededAt]);
}

export async function findSeededByOperation(on: Queryable, operationId: string): Promise<SeededDistribution | null> {
  const [row] = await on.query<SeededDistributionRow>(SELECT_BY_OPERATION, [operationId]);
  return row === undefined ? null : toSeeded(row);
}

export async function findSeededDistribution(on: Queryable, challengeId: string): Promise<SeededDistribution | null> {
  const [row] = await on.query<SeededDistributionRow>(SELECT_BY_CHALLENGE, [challengeId]);
  return row === undefined ? null : toSeeded(row);
}

function toSeeded(row: SeededDistributionRow): SeededDistribution {
  const { p5, p25, p50, p75, p95 } = row;
  return {
    challengeId: row.challenge_id,
    operationId: row.operation_id,
    distribution: { p5, p25, p50, p75, p95 },
    sampleSize: row.sample_size,
    threshold: row.threshold,
    seededAt: row.seeded_at,
  };
}
