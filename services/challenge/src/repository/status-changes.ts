/** The history of each challenge's status: a row for every change, and for the completion of a ramp. */

import { newId } from '@laurel/ids';
import type { Queryable } from '@laurel/postgres';
import type { ChallengeStatus } from '../domain/challenge.ts';

/** `calibrated` and `seeded` set the bar, `drift` and `ramp` are the monitor's, `operator` is a person's. */
export type StatusChangeCause = 'calibrated' | 'seeded' | 'drift' | 'ramp' | 'operator';

/** The state of a drift monitor with both of its likelihood ratios, as natural logarithms. */
export type DriftEvidence = {
  readonly attempts: number;
  readonly passes: number;
  readonly above: number;
  readonly below: number;
};

export type StatusChange = {
  readonly challengeId: string;
  readonly changedAt: Date;
  readonly from: ChallengeStatus;
  readonly to: ChallengeStatus;
  readonly cause: StatusChangeCause;
  /** The operator's words; null for none. */
  readonly note: string | null;
  /** Of the monitor, where it caused the change; null otherwise. */
  readonly evidence: DriftEvidence | null;
};

const INSERT = {
  name: 'status_changes_insert',
  text: `
insert into status_changes
  (id, challenge_id, changed_at, from_status, to_status, cause, note, attempts, passes, log_ratio_above, log_ratio_below)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
};

export async function insertStatusChange(on: Queryable, change: StatusChange): Promise<void> {
  const { challengeId, changedAt, from, to, cause, note, evidence } = change;
  await on.query(INSERT, [
    newId(changedAt),
    challengeId,
    changedAt,
    from,
    to,
    cause,
    note,
    evidence?.attempts ?? null,
    evidence?.passes ?? null,
    evidence?.above ?? null,
    evidence?.below ?? null,
  ]);
}
