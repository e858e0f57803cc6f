/**
 * A contest service's part of the audit. It checks the service's own invariants, and compares its
 * attempts and awards with the wallet's fees and payouts (compare-with-wallet.ts). The service
 * supplies the queries and the rules that define a violation.
 */

import { type CheckResult, type Database, type EnvironmentsOfIds, findEnvironments } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';
import type { FeeListing, PayoutListing, Wallet } from '../wallet.ts';
import { type Comparison, compareWithWallet } from './compare-with-wallet.ts';

/** A table of the contest service, read in id order. */
interface AuditedTable<Row> {
  /** At most `limit` rows with an id above `after`, in id order. */
  page(database: Database, after: string, limit: number): Promise<ReadonlyMap<string, Row>>;
  reread(database: Database, ids: readonly string[]): Promise<ReadonlyMap<string, Row>>;
}

const PAGE = 5_000;
const MAX_EXAMPLES = 10;

/**
 * Returns the results of every check, the service's own first. An aborted signal ends the audit
 * after the check or page under way.
 */
export async function auditMoney<Attempt, Award, Check extends string>(audited: {
  readonly owner: ContestServiceName;
  readonly database: Database;
  readonly wallet: Wallet;
  readonly runOwnChecks: (database: Database) => Promise<CheckResult[]>;
  readonly environments: EnvironmentsOfIds;
  readonly attempts: AuditedTable<Attempt>;
  readonly awards: AuditedTable<Award>;
  readonly judgeFee: Comparison<Attempt, FeeListing, Check>['judge'];
  readonly judgePayout: Comparison<Award, PayoutListing, Check>['judge'];
  /** Describes each check. */
  readonly checks: Readonly<Record<Check, string>>;
  readonly signal?: AbortSignal | undefined;
}): Promise<CheckResult[]> {
  const { owner, database, wallet, attempts, awards, judgeFee, judgePayout, checks, signal } = audited;
  const own = await audited.runOwnChecks(database);
  /** The environment that the wallet states for each row with a finding. */
  const inWallet = new Map<string, Environment>();
  const fees = await compareWithWallet({
    pageSize: PAGE,
    readOurs: async (after) => {
      signal?.throwIfAborted();
      return attempts.page(database, after, PAGE);
    },
    rereadOurs: (ids) => attempts.reread(database, ids),
    readTheirs: async (after) =>
      (await wallet.listFees(owner, after, PAGE)).map((fee) => ({ id: fee.attemptId, row: fee })),
    judge: (ours, theirs) => {
      const finding = judgeFee(ours, theirs);
      if (finding !== null && theirs !== null) inWallet.set(theirs.attemptId, theirs.environment);
      return finding;
    },
  });
  const payouts = await compareWithWallet({
    pageSize: PAGE,
    readOurs: async (after) => {
      signal?.throwIfAborted();
      return awards.page(database, after, PAGE);
    },
    rereadOurs: (ids) => awards.reread(database, ids),
    readTheirs: async (after) =>
      (await wallet.listAwardPayouts(owner, after, PAGE)).map((payout) => ({ id: payout.awardId, row: payout })),
    judge: (ours, theirs) => {
      const finding = judgePayout(ours, theirs);
      if (finding !== null && theirs !== null) inWallet.set(theirs.awardId, theirs.environment);
      return finding;
    },
  });
  const found = [...fees, ...payouts];
  const inOwner = await findEnvironments(database, audited.environments, [...new Set(found.map(({ id }) => id))]);
  const compared = Object.entries<string>(checks).map(([id, description]): CheckResult => {
    const ids = found.filter(({ check }) => check === id).map((violation) => violation.id);
    const [ofTest, ofLive] = [ids.filter(isOfTest), ids.filter((one) => !isOfTest(one))];
    return {
      id,
      description,
      violations: BigInt(ids.length),
      testViolations: BigInt(ofTest.length),
      examples: [...ofLive, ...ofTest].slice(0, MAX_EXAMPLES),
    };
  });
  return [...own, ...compared];

  /**
   * If the two services disagree about the environment, or neither knows it, the money counts as
   * real.
   */
  function isOfTest(id: string): boolean {
    const named = [inWallet.get(id), inOwner.get(id)].filter((environment) => environment !== undefined);
    return named.length > 0 && named.every((environment) => environment === 'test');
  }
}
