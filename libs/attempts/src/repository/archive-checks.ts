/**
 * The audit's checks of archived attempts (decision 38) that both contest services use. Each
 * service adds its own id of the check.
 */
import type { SlicedCheck } from '@laurel/postgres';
import { ATTEMPTS } from './audit-walks.ts';

/**
 * The sums that a pass adds up over archived attempts, by their name in `audit_sums`. The key of a
 * sum is the month, environment and status as JSON.
 */
export const ARCHIVED_SUM = {
  /** The attempts, and their fees, of months that were already deleted when the pass began. */
  attempts: 'archived',
  fees: 'archived_fees',
} as const;

export const ATTEMPT_IS_KEPT_ONCE: Omit<SlicedCheck, 'id'> = {
  description: 'No archived attempt is in use as well, and no receipt is that of two attempts.',
  violations: `
      select kept.id from archived_attempts kept join attempts a on a.id = kept.id
      union
      select kept.id from archived_attempts kept join outcomes o on o.attempt_id = kept.id
      union
      select kept.id from archived_attempts kept join outcomes o on o.receipt_id = kept.receipt_id`,
  slices: {
    [ATTEMPTS.walk]: `
      select slice.key, kept.id
      from slice join archived_attempts kept on kept.id = slice.key
      where exists (select from attempts a where a.id = kept.id)
        or exists (select from outcomes o where o.attempt_id = kept.id)
        or exists (select from outcomes o where o.receipt_id = kept.receipt_id)`,
  },
};

/**
 * `months` is the service's SQL that joins its contests `c` and archived months `m` to archived
 * attempts `a`.
 */
export function archivedMonthKeepsItsTotals(months: string): Omit<SlicedCheck, 'id'> {
  return {
    description: 'The attempts of a deleted month add up to what its manifest states.',
    violations: monthsThatDifferSql(
      `
      select ${SUM_KEY} as key, count(*) as attempts, sum(a.fee_cents) as cents
      from archived_attempts a ${months}
      where m.deleted_at is not null
      group by 1`,
      'm.deleted_at is not null',
    ),
    atEnd: monthsThatDifferSql(
      `
      select key, max(cents) filter (where name = '${ARCHIVED_SUM.attempts}') as attempts,
        max(cents) filter (where name = '${ARCHIVED_SUM.fees}') as cents
      from audit_sums where name in ('${ARCHIVED_SUM.attempts}', '${ARCHIVED_SUM.fees}')
      group by key`,
      wasDeletedSql('(select started_at from audit_passes)'),
    ),
  };
}

/** SQL for the sums that a slice of attempts adds to those of its archived ones. */
export function sumsOfArchivedSql(months: string): string {
  return `
  select part.name, ${SUM_KEY} as key, part.cents
  from slice
  join archived_attempts a on a.id = slice.key ${months}
  cross join pass
  cross join lateral (values ('${ARCHIVED_SUM.attempts}', 1), ('${ARCHIVED_SUM.fees}', a.fee_cents)) as part (name, cents)
  where ${wasDeletedSql('pass.started_at')}`;
}

const SUM_KEY = 'jsonb_build_array(m.month, c.environment, a.status)::text';

/**
 * SQL: whether every slice of a pass sees the month `m` as deleted. An hour is more than the commit
 * that marks a month can take.
 */
function wasDeletedSql(startedAt: string): string {
  return `m.deleted_at < ${startedAt} - interval '1 hour'`;
}

/**
 * SQL for the months whose totals differ. `found` contains, by key (ARCHIVED_SUM), the sums of the
 * months `m` that meet the condition.
 */
function monthsThatDifferSql(found: string, condition: string): string {
  return `
      select distinct coalesce(stated.key, found.key)::jsonb ->> 0 as id, coalesce(stated.key, found.key)::jsonb ->> 1 as environment
      from (
        select jsonb_build_array(m.month, t.environment, t.status)::text as key, t.rows, t.cents
        from archived_months m
        cross join jsonb_to_recordset(m.totals) as t ("table" text, environment text, status text, rows numeric, cents numeric)
        where t."table" = 'attempts' and ${condition}
      ) stated
      full join (${found}) found on found.key = stated.key
      where (stated.rows, stated.cents) is distinct from (found.attempts, found.cents)`;
}
