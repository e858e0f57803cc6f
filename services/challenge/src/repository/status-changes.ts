/**
 * Stores the history of each challenge's status: one row per change, and one for the completion of
 * a ramp.
 */

import type { Queryable } from '@laurel/postgres';
import type { ChallengeStatus } from '../domain/challenge.ts';
import type { StatusChange, StatusChangeCause } from '../domain/status-change.ts';

type StatusChangeRow = {
  challenge_id: string;
  changed_at: Date;
  from_status: ChallengeStatus;
  to_status: ChallengeStatus;
  cause: StatusChangeCause;
  note: string | null;
  attempts: bigint | null;
  passes: bigint | null;
  log_ratio_above: number | null;
  log_ratio_below: number | null;
};

const INSERT = {
  name: 'status_changes_insert',
  text: `
insert into status_changes
  (challenge_id, changed_at, from_status, to_status, cause, note, attempts, passes, log_ratio_above, log_ratio_below)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
};

const SELECT_OF_CHALLENGE = {
  text: `
select challenge_id, changed_at, from_status, to_status, cause, note, attempts, passes, log_ratio_above, log_ratio_below
from status_changes where challenge_id = $1 order by id`,
};

// Skips the row for the completion of a ramp, which does not change the status.
const SELECT_LAST = {
  text: `
select challenge_id, changed_at, from_status, to_status, cause, note, attempts, passes, log_ratio_above, log_ratio_below
from status_changes where challenge_id = $1 and from_status <> to_status order by id desc limit 1`,
};

const SELECT_LAST_SUSPENSION = {
  text: `
select cause from status_changes where challenge_id = $1 and to_status = 'suspended' order by id desc limit 1`,
};

export async function insertStatusChange(on: Queryable, change: StatusChange): Promise<void> {
  const { challengeId, changedAt, from, to, cause, note, evidence } = change;
  await on.query(INSERT, [
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

/** Loads the history of a challenge's status, oldest first. */
export async function loadStatusChanges(on: Queryable, challengeId: string): Promise<readonly StatusChange[]> {
  return (await on.query<StatusChangeRow>(SELECT_OF_CHALLENGE, [challengeId])).map(toStatusChange);
}

/** Finds the change that gave the challenge its status; null if no change is recorded. */
export async function findLastStatusChange(on: Queryable, challengeId: string): Promise<StatusChange | null> {
  const [row] = await on.query<StatusChangeRow>(SELECT_LAST, [challengeId]);
  return row === undefined ? null : toStatusChange(row);
}

/** Finds the cause of the last suspension; null if there was no suspension. */
export async function findCauseOfSuspension(on: Queryable, challengeId: string): Promise<StatusChangeCause | null> {
  const [row] = await on.query<{ cause: StatusChangeCause }>(SELECT_LAST_SUSPENSION, [challengeId]);
  return row?.cause ?? null;
}

function toStatusChange(row: StatusChangeRow): StatusChange {
  const { attempts, passes, log_ratio_above: above, log_ratio_below: below } = row;
  const isEvident = attempts !== null && passes !== null && above !== null && below !== null;
  return {
    challengeId: row.challenge_id,
    changedAt: row.changed_at,
    from: row.from_status,
    to: row.to_status,
    cause: row.cause,
    note: row.note,
    evidence: isEvident ? { attempts: Number(attempts), passes: Number(passes), above, below } : null,
  };
}
