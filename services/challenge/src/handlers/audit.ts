/**
 * Audit: every invariant of this service, and of its money in the wallet. The second kind is a merge of two lists in id order, ours read
 * first and the wallet's after it, page by page; money-audit.ts says why that order proves what it finds.
 */
import type { Handlers } from '@laurel/grpc';
import { ownerOf } from '@laurel/ids';
import type { CheckResult, Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { Wallet } from '../clients/wallet.ts';
import { type Finding, judgeFee, judgePayout, MONEY_CHECKS, type MoneyCheck } from '../domain/money-audit.ts';
import { attemptsAgain, awardsAgain, pageOfAttempts, pageOfAwards, runOwnChecks } from '../repository/audit.ts';

const PAGE = 5_000;
const MAX_EXAMPLES = 10;
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export function audit({
  database,
  wallet,
}: {
  database: Database;
  wallet: Wallet;
}): Handlers<ChallengeServiceService>['audit'] {
  return async () => {
    const own = await runOwnChecks(database);
    const broken = new Map<MoneyCheck, string[]>();
    await compare(broken, {
      readOurs: (after) => pageOfAttempts(database, after, PAGE),
      readOursAgain: (ids) => attemptsAgain(database, ids),
      readTheirs: async (after) =>
        (await wallet.listFees(after, PAGE)).map((fee) => ({
          id: fee.attemptId,
          isOurs: ownerOf(fee.attemptId) !== 'tournament',
          row: fee,
        })),
      judge: judgeFee,
    });
    await compare(broken, {
      readOurs: (after) => pageOfAwards(database, after, PAGE),
      readOursAgain: (ids) => awardsAgain(database, ids),
      readTheirs: async (after) =>
        (await wallet.listAwardPayouts(after, PAGE)).map((payout) => ({
          id: payout.awardId,
          isOurs: payout.roundId === '',
          row: payout,
        })),
      judge: judgePayout,
    });
    const shared = Object.entries(MONEY_CHECKS).map(([id, description]): CheckResult => {
      const ids = broken.get(id as MoneyCheck) ?? [];
      return { id, description, violations: BigInt(ids.length), examples: ids.slice(0, MAX_EXAMPLES) };
    });
    return { checks: [...own, ...shared] };
  };
}

type Comparison<Ours, Theirs> = {
  readOurs(after: string): Promise<Map<string, Ours>>;
  readOursAgain(ids: readonly string[]): Promise<Map<string, Ours>>;
  readTheirs(
    after: string,
  ): Promise<readonly { readonly id: string; readonly isOurs: boolean; readonly row: Theirs }[]>;
  judge(ours: Ours | null, theirs: Theirs | null): Finding | null;
};

/** Merges both lists in id order. Ids compare as text because both databases order uuids by their bytes. */
async function compare<Ours, Theirs>(
  broken: Map<MoneyCheck, string[]>,
  { readOurs, readOursAgain, readTheirs, judge }: Comparison<Ours, Theirs>,
): Promise<void> {
  let after = LOWEST_ID;
  for (;;) {
    const ours = await readOurs(after);
    const isLastPage = ours.size < PAGE;
    const until = isLastPage ? null : ([...ours.keys()].at(-1) ?? null);
    const unmatched = new Map(ours);
    const unproven = new Map<string, { readonly theirs: Theirs; readonly check: MoneyCheck }>();

    for await (const { id, row } of theirsBetween(after, until, readTheirs)) {
      const finding = judge(ours.get(id) ?? null, row);
      unmatched.delete(id);
      if (finding?.final) note(broken, finding.check, id);
      else if (finding != null) unproven.set(id, { theirs: row, check: finding.check });
      if (unproven.size >= PAGE) await settleUnproven();
    }
    for (const [id, row] of unmatched) {
      const finding = judge(row, null);
      if (finding !== null) note(broken, finding.check, id);
    }
    await settleUnproven();
    if (until === null) return;
    after = until;

    async function settleUnproven(): Promise<void> {
      if (unproven.size === 0) return;
      const again = await readOursAgain([...unproven.keys()]);
      for (const [id, { theirs, check }] of unproven) {
        if (judge(again.get(id) ?? null, theirs)?.check === check) note(broken, check, id);
      }
      unproven.clear();
    }
  }
}

/** Their rows above the first id up to the second, which is included; null is no end. */
async function* theirsBetween<Row extends { readonly id: string; readonly isOurs: boolean }>(
  after: string,
  until: string | null,
  readTheirs: (after: string) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let from = after;
  for (;;) {
    const page = await readTheirs(from);
    for (const row of page) {
      if (until !== null && row.id > until) return;
      if (row.isOurs) yield row;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    from = last.id;
  }
}

function note(broken: Map<MoneyCheck, string[]>, check: MoneyCheck, id: string): void {
  const ids = broken.get(check) ?? [];
  ids.push(id);
  broken.set(check, ids);
}
