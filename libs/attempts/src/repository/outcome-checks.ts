/** The checks of the audit over outcomes, without the ids that each service gives them. */
import type { Check } from '@laurel/postgres';

export const SETTLED_HAS_OUTCOME: Omit<Check, 'id'> = {
  description: 'An attempt is settled exactly when it has an outcome.',
  violations: `
      select coalesce(a.id, o.attempt_id) as id
      from (select id from attempts where status = 'settled') a
      full join outcomes o on o.attempt_id = a.id
      where a.id is null or o.attempt_id is null`,
};

export const RECEIPT_HAS_KEY: Omit<Check, 'id'> = {
  description: 'Every receipt was signed with a key that is on record.',
  violations: `
      select o.receipt_id as id from outcomes o left join signing_keys k on k.id = o.signing_key_id where k.id is null`,
};
