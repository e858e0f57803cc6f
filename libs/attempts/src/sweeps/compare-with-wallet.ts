/**
 * The audit of two databases without a common snapshot. A contest service's rows ("ours") and the
 * wallet's are merged in id order, page by page. Ours are read first, so the state in our row had
 * to be true in the wallet before. A finding that this order does not prove is kept only if our
 * row, read again after the wallet's, still fails the same check.
 */
import type { Finding } from '../domain/finding.ts';

/** Below every id: where a list in id order begins. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export type Comparison<Ours, Theirs, Check extends string> = {
  readonly pageSize: number;
  /** At most a page of our rows with an id above `after`, keyed by id and in id order. */
  readOurs(after: string): Promise<ReadonlyMap<string, Ours>>;
  rereadOurs(ids: readonly string[]): Promise<ReadonlyMap<string, Ours>>;
  /** At most a page of the wallet's rows for ours with an id above `after`, in id order. */
  readTheirs(after: string): Promise<readonly WalletRow<Theirs>[]>;
  /** The violation between the two rows of an id, if any; one of them may be missing. */
  judge(ours: Ours | null, theirs: Theirs | null): Finding<Check> | null;
};

export type Violation<Check extends string> = { readonly check: Check; readonly id: string };

type WalletRow<Row> = { readonly id: string; readonly row: Row };

/**
 * Returns the confirmed findings. Ids compare as text, because both databases order uuids by their
 * bytes.
 */
export async function compareWithWallet<Ours, Theirs, Check extends string>(
  comparison: Comparison<Ours, Theirs, Check>,
): Promise<readonly Violation<Check>[]> {
  const { pageSize, readOurs, rereadOurs, judge } = comparison;
  const violations: Violation<Check>[] = [];
  let after = LOWEST_ID;
  for (;;) {
    const ours = await readOurs(after);
    const isLastPage = ours.size < pageSize;
    const until = isLastPage ? null : ([...ours.keys()].at(-1) ?? null);
    const unmatched = new Map(ours);
    const unproven = new Map<string, { readonly theirs: Theirs; readonly check: Check }>();

    for await (const { id, row } of theirsBetween(after, until, comparison)) {
      const finding = judge(ours.get(id) ?? null, row);
      unmatched.delete(id);
      if (finding?.final) violations.push({ check: finding.check, id });
      else if (finding != null) unproven.set(id, { theirs: row, check: finding.check });
      if (unproven.size >= pageSize) await checkUnproven();
    }
    for (const [id, row] of unmatched) {
      const finding = judge(row, null);
      if (finding !== null) violations.push({ check: finding.check, id });
    }
    await checkUnproven();
    if (until === null) return violations;
    after = until;

    async function checkUnproven(): Promise<void> {
      if (unproven.size === 0) return;
      const again = await rereadOurs([...unproven.keys()]);
      for (const [id, { theirs, check }] of unproven) {
        if (judge(again.get(id) ?? null, theirs)?.check === check) violations.push({ check, id });
      }
      unproven.clear();
    }
  }
}

/**
 * The wallet's rows above the first id, up to and including the second; null means no upper bound.
 */
async function* theirsBetween<Row>(
  after: string,
  until: string | null,
  { pageSize, readTheirs }: Pick<Comparison<never, Row, never>, 'pageSize' | 'readTheirs'>,
): AsyncGenerator<WalletRow<Row>> {
  let from = after;
  for (;;) {
    const page = await readTheirs(from);
    for (const row of page) {
      if (until !== null && row.id > until) return;
      yield row;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    from = last.id;
  }
}
