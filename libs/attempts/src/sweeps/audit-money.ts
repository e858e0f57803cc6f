/**
 * A contest service's part of the audit across services. It compares the service's attempts and
 * awards with the wallet's fees and payouts (compare-with-wallet.ts), all at once or in slices. The
 * service supplies the queries and the rules that define a violation.
 */

import {
  type CheckResult,
  type ComparedSlice,
  type ComparedWalk,
  type Database,
  type EnvironmentsOfIds,
  findEnvironments,
} from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';
import { ATTEMPT_AGE_MS, leastIdOfAge, OUTCOME_AGE_MS } from '../repository/audit-walks.ts';
import type { FeeListing, PayoutListing, Wallet } from '../wallet.ts';
import { type Comparison, compareWithWallet } from './compare-with-wallet.ts';

/** A table of the contest service, read in id order. */
interface AuditedTable<Row> {
  /** Reads at most `limit` rows with an id above `after`, in id order. */
  page(database: Database, after: string, limit: number): Promise<ReadonlyMap<string, Row>>;
  reread(database: Database, ids: readonly string[]): Promise<ReadonlyMap<string, Row>>;
}

export interface AuditedMoney<Attempt, Award, Check extends string> {
  readonly contestService: ContestServiceName;
  readonly database: Database;
  readonly wallet: Wallet;
  readonly environments: EnvironmentsOfIds;
  readonly attempts: AuditedTable<Attempt>;
  readonly awards: AuditedTable<Award>;
  readonly judgeFee: Comparison<Attempt, FeeListing, Check>['judge'];
  readonly judgePayout: Comparison<Award, PayoutListing, Check>['judge'];
  /** The invariant of each check, as a sentence. */
  readonly checks: Readonly<Record<Check, string>>;
}

const PAGE = 5_000;
const MAX_EXAMPLES = 10;
/** An id below every id, where a list in id order begins. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
/**
 * Returns the walks over fees and over payouts. The ids of attempts and awards begin with a time.
 */
export function moneyWalks<Attempt, Award, Check extends string>(
  audited: AuditedMoney<Attempt, Award, Check>,
): readonly ComparedWalk[] {
  const { contestService, wallet, attempts, awards, judgeFee, judgePayout } = audited;
  const walkOf = (name: string, ageMs: number, compare: ComparedWalk['compare']): ComparedWalk => ({
    name,
    pageSize: PAGE,
    compare,
    leastKeyAt: leastIdOfAge(ageMs),
  });
  return [
    walkOf('fees', ATTEMPT_AGE_MS, (after, limit) =>
      compareSlice(audited, {
        table: attempts,
        judge: judgeFee,
        async readTheirs(from) {
          return (await wallet.listFees(contestService, from, limit)).map((fee) => ({ id: fee.attemptId, row: fee }));
        },
        after,
        limit,
      }),
    ),
    walkOf('payouts', OUTCOME_AGE_MS, (after, limit) =>
      compareSlice(audited, {
        table: awards,
        judge: judgePayout,
        async readTheirs(from) {
          return (await wallet.listAwardPayouts(contestService, from, limit)).map((payout) => ({
            id: payout.awardId,
            row: payout,
          }));
        },
        after,
        limit,
      }),
    ),
  ];
}

/** Compares all rows. An aborted signal ends the comparison after the current page. */
export async function auditMoney<Attempt, Award, Check extends string>(
  audited: AuditedMoney<Attempt, Award, Check>,
  signal?: AbortSignal,
): Promise<CheckResult[]> {
  const found: ComparedSlice['found'][number][] = [];
  for (const { compare, pageSize } of moneyWalks(audited)) {
    for (let after: string | null = LOWEST_ID; after !== null; ) {
      signal?.throwIfAborted();
      const slice: ComparedSlice = await compare(after, pageSize);
      found.push(...slice.found);
      after = slice.until;
    }
  }
  return Object.entries<string>(audited.checks).map(([id, description]): CheckResult => {
    const violations = found.filter(({ check }) => check === id);
    const idsOf = (environment: Environment) =>
      violations.filter((violation) => violation.environment === environment).map((violation) => violation.id);
    const [ofTest, ofLive] = [idsOf('test'), idsOf('live')];
    return {
      id,
      description,
      violations: BigInt(violations.length),
      testViolations: BigInt(ofTest.length),
      examples: [...ofLive, ...ofTest].slice(0, MAX_EXAMPLES),
    };
  });
}

/**
 * Compares one slice. If the two services disagree about the environment of a violation, or neither
 * knows the environment, the money counts as real.
 */
async function compareSlice<Row, Theirs extends { readonly environment: Environment }, Check extends string>(
  { database, environments }: { readonly database: Database; readonly environments: EnvironmentsOfIds },
  {
    table,
    after,
    limit,
    ...rules
  }: {
    readonly table: AuditedTable<Row>;
    readonly after: string;
    readonly limit: number;
  } & Pick<Comparison<Row, Theirs, Check>, 'readTheirs' | 'judge'>,
): Promise<ComparedSlice> {
  /** The environment that the wallet states for each row. */
  const inWallet = new Map<string, Environment>();
  const { until, violations } = await compareWithWallet<Row, Theirs, Check>(
    {
      pageSize: limit,
      readOurs: (from) => table.page(database, from, limit),
      rereadOurs: (ids) => table.reread(database, ids),
      judge: rules.judge,
      async readTheirs(from) {
        const rows = await rules.readTheirs(from);
        for (const { id, row } of rows) inWallet.set(id, row.environment);
        return rows;
      },
    },
    after,
  );
  if (violations.length === 0) return { until, found: [] };
  const inOwner = await findEnvironments(
    database,
    environments,
    violations.map(({ id }) => id),
  );
  const found = violations.map(({ check, id }) => {
    const named = [inWallet.get(id), inOwner.get(id)].filter((environment) => environment !== undefined);
    const isOfTest = named.length > 0 && named.every((environment) => environment === 'test');
    return { check, id, environment: isOfTest ? ('test' as const) : ('live' as const) };
  });
  return { until, found };
}
