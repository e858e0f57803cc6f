/**
 * The limits of programs, and how much each has paid. A payout locks its program's row after its
 * player's and before all that it writes (docs/lock-order.md). So the payouts of one program are
 * decided one after the other, and no two use the same part of the limit.
 *
 * A program has a row in live from its first payout on. In test it has one only once an operator
 * sets a limit, so that play money without a limit locks nothing.
 */

import type { Database, Statement, Transaction } from '@laurel/postgres';
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import { NO_PROGRAM_LIMIT, type ProgramPayouts } from '../domain/payout-hold.ts';
import {
  type DefaultLimits,
  limitsInForce,
  type ProgramLimits,
  type ProgramName,
  programKeyOf,
} from '../domain/program-limits.ts';

/** The limit in force, as an SQL expression: an operator's, or the default of the environment. */
export function payoutLimitSql(of: { program: string; environment: string; defaultCents: string }): string {
  return `coalesce(${of.program}.payout_limit_cents, case ${of.environment} when 'live' then ${of.defaultCents}::bigint end)`;
}

/**
 * The most by which the instants of two payouts of a program may differ from the order of its lock.
 * A payout takes its instant before it waits for the lock; its caller gives up long before this.
 */
const MOST_DISORDER = `interval '1 minute'`;

/**
 * A subquery of what a program paid after `since`. It reads only the rows of some two minutes,
 * however many the window has. The arguments are SQL expressions; `countCents` is the count of the
 * program's row in the same snapshot. If `onlyIf` is false, it reads nothing and the sum is null.
 *
 * The row of each payout stores the program's count including that payout, and the lock on the
 * program's row orders the payouts. `before` is the newest payout that every payout of the window
 * follows in that order. Since then the count has grown by the payouts of the window and by
 * `early`: payouts that also follow `before` but were paid up to `since`. Payouts without a count
 * are read one by one.
 */
export function recentProgramPayoutsSql(of: {
  programId: string;
  environment: string;
  since: string;
  countCents: string;
  onlyIf?: string;
}): string {
  const { since, countCents, onlyIf = 'true' } = of;
  const isOfProgram = `${onlyIf} and payouts.program_id = ${of.programId} and payouts.environment = ${of.environment}`;
  return `select case when ${onlyIf}
          then ${countCents} - coalesce(before.count_cents, 0) - early.cents + uncounted.cents end as paid_cents
        from (select) as program_payouts
        left join lateral (
          select payouts.program_paid_cents as count_cents, payouts.paid_at from payouts
          where ${isOfProgram} and payouts.program_paid_cents is not null
            and payouts.paid_at <= ${since} - ${MOST_DISORDER}
          order by payouts.paid_at desc limit 1
        ) as before on true
        cross join lateral (
          select coalesce(sum(payouts.amount_cents), 0)::bigint as cents from payouts
          where ${isOfProgram} and payouts.program_paid_cents > coalesce(before.count_cents, 0)
            and payouts.paid_at > coalesce(before.paid_at, '-infinity') - ${MOST_DISORDER} and payouts.paid_at <= ${since}
        ) as early
        cross join lateral (
          select coalesce(sum(payouts.amount_cents), 0)::bigint as cents from payouts
          where ${isOfProgram} and payouts.program_paid_cents is null and payouts.paid_at > ${since}
        ) as uncounted`;
}

const openProgramsStatement: Statement = {
  name: 'open_programs',
  text: `
    insert into program_limits (program_id, environment)
    select distinct wanted.program_id, 'live' from unnest($1::uuid[]) as wanted (program_id) order by wanted.program_id
    on conflict (program_id, environment) do nothing`,
};

/**
 * Inserts the missing rows of programs in live. It is a transaction of its own, before the one that
 * locks them.
 */
export async function openPrograms(database: Database, programs: readonly ProgramName[]): Promise<void> {
  const live = programs.filter(({ environment }) => environment === 'live');
  if (live.length > 0) await database.query(openProgramsStatement, [live.map(({ programId }) => programId)]);
}

/**
 * Runs the work. If a program in live has no row, opens the rows and runs it again: once in a
 * program's lifetime.
 */
export async function withOpenPrograms<Result>(
  database: Database,
  programs: readonly ProgramName[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProgramNotOpenError)) throw error;
    await openPrograms(database, programs);
    return await work();
  }
}

class ProgramNotOpenError extends Error {
  override readonly name = 'ProgramNotOpenError';
}

const lockProgramsStatement: Statement = {
  name: 'lock_programs',
  text: `
    select program.program_id, program.environment, program.payout_limit_cents, program.fee_limit_cents
    from (
      select * from unnest($1::uuid[], $2::text[]) as wanted (program_id, environment) order by program_id, environment
    ) as wanted
    cross join lateral (
      select * from program_limits
      where program_limits.program_id = wanted.program_id and program_limits.environment = wanted.environment for no key update
    ) as program`,
};

const loadProgramPayoutsStatement: Statement = {
  name: 'load_program_payouts',
  text: `
    select program.program_id, program.environment, recent.paid_cents
    from unnest($1::uuid[], $2::text[]) as wanted (program_id, environment)
    cross join lateral (
      select * from program_limits
      where program_limits.program_id = wanted.program_id and program_limits.environment = wanted.environment limit 1
    ) as program
    cross join lateral (
      ${recentProgramPayoutsSql({
        programId: 'program.program_id',
        environment: 'program.environment',
        since: '$3::timestamptz',
        countCents: 'program.paid_cents',
      })}
    ) as recent`,
};

type LimitsRow = {
  program_id: string;
  environment: Environment;
  payout_limit_cents: bigint | null;
  fee_limit_cents: bigint | null;
};

type PaidRow = { program_id: string; environment: Environment; paid_cents: bigint };

/**
 * Locks the rows of programs until the transaction ends. Reads, by the row's key, what each paid
 * after `since` and its limit. Both statements are sent together; the second takes its snapshot
 * once the first has its locks.
 */
export async function lockPrograms(
  tx: Transaction,
  programs: readonly ProgramName[],
  { since, defaults }: { readonly since: Date; readonly defaults: DefaultLimits },
): Promise<ReadonlyMap<string, ProgramPayouts>> {
  const wanted = [...new Map(programs.map((program) => [programKeyOf(program), program])).values()];
  const keys = [wanted.map(({ programId }) => programId), wanted.map(({ environment }) => environment)];
  const [locked, paid] = await Promise.all([
    tx.query<LimitsRow>(lockProgramsStatement, keys),
    tx.query<PaidRow>(loadProgramPayoutsStatement, [...keys, since]),
  ]);
  const paidByKey = new Map(paid.map((row) => [programKeyOf(nameOf(row)), cents(row.paid_cents)]));
  const found = new Map(
    locked.map((row): [string, ProgramPayouts] => {
      const key = programKeyOf(nameOf(row));
      const { payoutCents } = limitsInForce(row.environment, limitsOf(row), defaults);
      const paidCents = paidByKey.get(key);
      if (paidCents === undefined) throw new Error(`the locked program ${row.program_id} is gone`);
      return [key, { limitCents: payoutCents, paidCents }];
    }),
  );
  return new Map(
    wanted.map((program): [string, ProgramPayouts] => {
      const key = programKeyOf(program);
      const payouts = found.get(key);
      if (payouts === undefined && program.environment === 'live') {
        throw new ProgramNotOpenError('a program in live has no row of its limits yet');
      }
      return [key, payouts ?? NO_PROGRAM_LIMIT];
    }),
  );
}

/** Locks the rows of programs until the transaction ends; a program without a row has no limit. */
export async function lockProgramsToCount(tx: Transaction, programs: readonly ProgramName[]): Promise<void> {
  await tx.query(lockProgramsStatement, [
    programs.map(({ programId }) => programId),
    programs.map(({ environment }) => environment),
  ]);
}

const countProgramPayoutsStatement: Statement = {
  name: 'count_program_payouts',
  text: `
    update program_limits set paid_cents = program_limits.paid_cents + paid.cents
    from unnest($1::uuid[], $2::text[], $3::bigint[]) as paid (program_id, environment, cents)
    where program_limits.program_id = paid.program_id and program_limits.environment = paid.environment`,
};

/** Adds the payouts to the rows that lockPrograms locked; a program without a row has no limit. */
export async function countProgramPayouts(
  tx: Pick<Transaction, 'query'>,
  changes: readonly (ProgramName & { readonly paidCents: Cents })[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(countProgramPayoutsStatement, [
    changes.map(({ programId }) => programId),
    changes.map(({ environment }) => environment),
    changes.map(({ paidCents }) => paidCents),
  ]);
}

const loadProgramLimitsStatement: Statement = {
  name: 'load_program_limits',
  text: `
    select wanted.environment, program.payout_limit_cents, program.fee_limit_cents, recent.paid_cents
    from unnest($2::text[]) with ordinality as wanted (environment, position)
    left join lateral (
      select * from program_limits where program_limits.program_id = $1 and program_limits.environment = wanted.environment limit 1
    ) as program on true
    cross join lateral (
      ${recentProgramPayoutsSql({
        programId: '$1',
        environment: 'wanted.environment',
        since: '$3::timestamptz',
        countCents: 'coalesce(program.paid_cents, 0)',
      })}
    ) as recent
    order by wanted.position`,
};

/** What an operator set for a program in one environment, and what it paid after `since`. */
export type StoredLimits = {
  readonly environment: Environment;
  readonly set: ProgramLimits;
  readonly paidCents: Cents;
};

/** The limits of each environment, in order. */
export async function loadProgramLimits(
  database: Database,
  programId: string,
  environments: readonly Environment[],
  since: Date,
): Promise<readonly StoredLimits[]> {
  const rows = await database.query<Omit<LimitsRow, 'program_id'> & Omit<PaidRow, 'program_id'>>(
    loadProgramLimitsStatement,
    [programId, environments, since],
  );
  return rows.map((row) => ({
    environment: row.environment,
    set: limitsOf(row),
    paidCents: cents(row.paid_cents),
  }));
}

/** A limit to set: an amount, null for the default of the environment, undefined to keep it. */
export type LimitsChange = {
  readonly payoutCents: Cents | null | undefined;
  readonly feeCents: Cents | null | undefined;
};

const setProgramLimitsStatement: Statement = {
  name: 'set_program_limits',
  // Waits for payouts that have locked the row; the previous limit applies to them.
  text: `
    insert into program_limits (program_id, environment, payout_limit_cents, fee_limit_cents) values ($1, $2, $3, $5)
    on conflict (program_id, environment) do update set
      payout_limit_cents = case when $4 then excluded.payout_limit_cents else program_limits.payout_limit_cents end,
      fee_limit_cents = case when $6 then excluded.fee_limit_cents else program_limits.fee_limit_cents end`,
};

export async function setProgramLimits(
  database: Database,
  { programId, environment }: ProgramName,
  { payoutCents, feeCents }: LimitsChange,
): Promise<void> {
  await database.query(setProgramLimitsStatement, [
    programId,
    environment,
    payoutCents ?? null,
    payoutCents !== undefined,
    feeCents ?? null,
    feeCents !== undefined,
  ]);
}

function nameOf(row: { program_id: string; environment: Environment }): ProgramName {
  return { programId: row.program_id, environment: row.environment };
}

function limitsOf(row: Pick<LimitsRow, 'payout_limit_cents' | 'fee_limit_cents'>): ProgramLimits {
  return {
    payoutCents: row.payout_limit_cents === null ? null : cents(row.payout_limit_cents),
    feeCents: row.fee_limit_cents === null ? null : cents(row.fee_limit_cents),
  };
}
