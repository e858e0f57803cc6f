/**
 * The audit's checks of outcomes that both contest services use. Each service adds its own id of
 * the check.
 */
import type { SlicedCheck } from '@laurel/postgres';
import { type AuditedRows, OUTCOMES } from './audit-walks.ts';

export function settledHasOutcome({ attempts, outcomes }: AuditedRows): Omit<SlicedCheck, 'id'> {
  return {
    description: 'An attempt is settled exactly when it has an outcome.',
    violations: `
      select coalesce(a.id, o.attempt_id) as id
      from (select id from ${attempts.all} any_status where status = 'settled') a
      full join ${outcomes.all} o on o.attempt_id = a.id
      where a.id is null or o.attempt_id is null`,
    slices: {
      [attempts.walk]: `
      select a.key, a.id
      from ${attempts.inSlice} a left join ${outcomes.all} o on o.attempt_id = a.id
      where a.status = 'settled' and o.attempt_id is null`,
      [outcomes.walk]: `
      select o.key, o.attempt_id as id
      from ${outcomes.inSlice} o left join ${attempts.all} a on a.id = o.attempt_id
      where a.status is distinct from 'settled'`,
    },
  };
}

// Reads only receipts that are not archived: the archive contains the others, with their signatures
// and keys.
export const RECEIPT_HAS_KEY: Omit<SlicedCheck, 'id'> = {
  description: 'Every receipt was signed with a key that is on record.',
  violations: `
      select o.receipt_id as id
      from outcomes o left join signing_keys k on k.id = o.signing_key_id where k.id is null`,
  slices: {
    [OUTCOMES.walk]: `
      select slice.key, o.receipt_id as id
      from slice join outcomes o on o.attempt_id = slice.key left join signing_keys k on k.id = o.signing_key_id
      where k.id is null`,
  },
};
