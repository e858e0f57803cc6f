/**
 * Listened samples: scores for a calibrating challenge without an open attempt. A report has at
 * most one; its row shows whether the challenge service has received it.
 */
import type { Database } from '@laurel/postgres';
import type { Environment, Tenant } from '@laurel/values/tenant';
import type { ReportKey } from './report-attempts.ts';

export type ListenedSample = ReportKey & {
  readonly tenant: Tenant;
  readonly challengeId: string;
  readonly playerRef: string;
  readonly score: number;
  readonly receivedAt: Date;
};

const INSERT = {
  name: 'listened_samples_insert',
  text: `
insert into listened_samples
  (integration_id, report_hash, program_id, environment, challenge_id, player_ref, score, received_at)
select * from unnest(
  $1::uuid[], $2::bytea[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::float8[], $8::timestamptz[]
) as w (integration_id, report_hash, program_id, environment, challenge_id, player_ref, score, received_at)
order by w.integration_id, w.report_hash
on conflict (integration_id, report_hash) do nothing`,
};

const SELECT_WAITING = {
  name: 'listened_samples_waiting',
  text: `
select integration_id, report_hash, program_id, environment, challenge_id, player_ref, score, received_at
from listened_samples where forwarded_at is null order by received_at limit $1`,
};

const MARK_FORWARDED = {
  name: 'listened_samples_mark_forwarded',
  text: `
with held as materialized (
  select w.*
  from (
    select * from unnest($1::uuid[], $2::bytea[]) as w (integration_id, report_hash) order by integration_id, report_hash
  ) w
  cross join lateral (
    select from listened_samples s
    where s.integration_id = w.integration_id and s.report_hash = w.report_hash and s.forwarded_at is null
    for no key update
  ) s
)
update listened_samples s set forwarded_at = $3
from held where s.integration_id = held.integration_id and s.report_hash = held.report_hash`,
};

type ListenedSampleRow = {
  integration_id: string;
  report_hash: Buffer;
  program_id: string;
  environment: Environment;
  challenge_id: string;
  player_ref: string;
  score: number;
  received_at: Date;
};

/** Commits the samples durably. A report that already has a sample gets no second one. */
export async function insertListenedSamples(
  database: Database,
  samples: readonly ListenedSample[],
  beforeCommit: () => void | Promise<void>,
): Promise<void> {
  const values = [
    samples.map(({ integrationId }) => integrationId),
    samples.map(({ reportHash }) => reportHash),
    samples.map(({ tenant }) => tenant.programId),
    samples.map(({ tenant }) => tenant.environment),
    samples.map(({ challengeId }) => challengeId),
    samples.map(({ playerRef }) => playerRef),
    samples.map(({ score }) => score),
    samples.map(({ receivedAt }) => receivedAt),
  ];
  await database.batch([{ statement: INSERT, values }], { beforeCommit });
}

/** Returns samples that were not forwarded yet, oldest first. */
export async function loadWaitingSamples(database: Database, limit: number): Promise<readonly ListenedSample[]> {
  const rows = await database.query<ListenedSampleRow>(SELECT_WAITING, [limit]);
  return rows.map((row) => ({
    integrationId: row.integration_id,
    reportHash: row.report_hash,
    tenant: { programId: row.program_id, environment: row.environment },
    challengeId: row.challenge_id,
    playerRef: row.player_ref,
    score: row.score,
    receivedAt: row.received_at,
  }));
}

/** Commits that the samples were forwarded, not durably. */
export async function markForwarded(
  database: Database,
  samples: readonly ListenedSample[],
  forwardedAt: Date,
): Promise<void> {
  const values = [
    samples.map(({ integrationId }) => integrationId),
    samples.map(({ reportHash }) => reportHash),
    forwardedAt,
  ];
  await database.write(MARK_FORWARDED, values, { durable: false });
}
