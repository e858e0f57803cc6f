/**
 * The audit's checks of outcomes that both contest services use. Each service adds its own id of
 * the check.
 */
import type { SlicedCheck } from '@laurel/postgres';
import { ATTEMPTS, OUTCOMES } from './audit-walks.ts';

export const SETTLED_HAS_OUTCOME: Omit<SlicedCheck, 'id'> = {
  description: 'An attempt is settled exactly when it has an outcome.',
  violations: `
      select coalesce(a.id, o.attempt_id) as id
      from (select id from ${ATTEMPTS.all} any_status where status = 'settled') a
      full join ${OUTCOMES.all} o on o.attempt_id = a.id
      where a.id is null or o.attempt_id is null`,
  slices: {
    [ATTEMPTS.walk]: `
      select a.key, a.id
      from ${ATTEMPTS.inSlice} a left join ${OUTCOMES.all} o on o.attempt_id = a.id
      where a.status = 'settled' and o.attempt_id is null`,
    [OUTCOMES.walk]: `
      select o.key, o.attempt_id as id
      from ${OUTCOMES.inSlice} o left join ${ATTEMPTS.all} a on a.id = o.attempt_id
      where a.status is distinct from 'settled'`,
  },
};

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
