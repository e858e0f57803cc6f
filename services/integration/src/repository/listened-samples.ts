/** Scores for a calibrating challenge that no open attempt stood behind: one for each report. */
import type { Database } from '@laurel/postgres';
import type { Tenant } from '@laurel/tenant';
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

/** Commits the samples, with the disk. A report that has one gets no other. */
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
