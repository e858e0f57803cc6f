/** The checks of the audit over outcomes, without the ids that each service gives them. */
import { ofRows, type SlicedCheck } from '@laurel/postgres';
import { ATTEMPTS, OUTCOMES } from './audit-walks.ts';

export const SETTLED_HAS_OUTCOME: Omit<SlicedCheck, 'id'> = {
  description: 'An attempt is settled exactly when it has an outcome.',
  violations: `
      select coalesce(a.id, o.attempt_id) as id
      from (select id from attempts where status = 'settled') a
      full join outcomes o on o.attempt_id = a.id
      where a.id is null or o.attempt_id is null`,
  slices: {
    [ATTEMPTS.walk]: `
      select a.key, a.id
      from ${ATTEMPTS.inSlice} a left join outcomes o on o.attempt_id = a.id
      where a.status = 'settled' and o.attempt_id is null`,
    [OUTCOMES.walk]: `
      select o.key, o.attempt_id as id
      from ${OUTCOMES.inSlice} o left join attempts a on a.id = o.attempt_id
      where a.status is distinct from 'settled'`,
  },
};

export const RECEIPT_HAS_KEY: Omit<SlicedCheck, 'id'> = {
  description: 'Every receipt was signed with a key that is on record.',
  ...ofRows(
    OUTCOMES,
    (outcomes) => `
      select o.key, o.receipt_id as id
      from ${outcomes} o left join signing_keys k on k.id = o.signing_key_id where k.id is null`,
  ),
};
