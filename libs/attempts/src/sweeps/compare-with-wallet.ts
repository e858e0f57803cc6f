/**
 * Audits two databases that have no common snapshot. The audit merges a contest service's rows
 * ("ours") and the wallet's rows in id order, slice by slice. It reads our rows first, so whatever
 * our row states must already be true in the wallet's row. If this order does not prove a finding,
 * the finding is kept only if our row, read again after the wallet's row, still fails the same
 * check.
 */
import type { Finding } from '../domain/finding.ts';

export type Comparison<Ours, Theirs, Check extends string> = {
  readonly pageSize: number;
  /** Reads at most a page of our rows with an id above `after`, keyed by id and in id order. */
  readOurs(after: string): Promise<ReadonlyMap<string, Ours>>;
  rereadOurs(ids: readonly string[]): Promise<ReadonlyMap<string, Ours>>;
  /**
   * Reads at most a page of the wallet's rows of this service with an id above `after`, in id
   * order.
   */
  readTheirs(after: string): Promise<readonly WalletRow<Theirs>[]>;
  /**
   * Returns the check that the two rows of an id violate; null for none. One of the rows may be
   * missing.
   */
  judge(ours: Ours | null, theirs: Theirs | null): Finding<Check> | null;
};

export type Violation<Check extends string> = { readonly check: Check; readonly id: string };

type WalletRow<Row> = { readonly id: string; readonly row: Row };

/**
 * Returns the confirmed findings about ids above `after`, up to `until`: the end of the shorter
 * page, or null if neither database has more rows. Ids compare as text, because both databases
 * order uuids by their bytes.
 */
export async function compareWithWallet<Ours, Theirs, Check extends string>(
  { pageSize, readOurs, rereadOurs, readTheirs, judge }: Comparison<Ours, Theirs, Check>,
  after: string,
): Promise<{ readonly until: string | null; readonly violations: readonly Violation<Check>[] }> {
  const ours = await readOurs(after);
  const theirs = await readTheirs(after);
  const until = least(endOf([...ours.keys()], pageSize), endOf([...theirs.map(({ id }) => id)], pageSize));
  const isWithin = (id: string) => until === null || id <= until;
  const violations: Violation<Check>[] = [];
  const unmatched = new Map(ours);
  const unproven = new Map<string, { readonly theirs: Theirs; readonly check: Check }>();

  for (const { id, row } of theirs) {
    if (!isWithin(id)) break;
    const finding = judge(ours.get(id) ?? null, row);
    unmatched.delete(id);
    if (finding?.final) violations.push({ check: finding.check, id });
    else if (finding != null) unproven.set(id, { theirs: row, check: finding.check });
  }
  for (const [id, row] of unmatched) {
    const finding = isWithin(id) ? judge(row, null) : null;
    if (finding !== null) violations.push({ check: finding.check, id });
  }
  if (unproven.size > 0) {
    const again = await rereadOurs([...unproven.keys()]);
    for (const [id, { theirs: row, check }] of unproven) {
      if (judge(again.get(id) ?? null, row)?.check === check) violations.push({ check, id });
    }
  }
  return { until, violations };
}

/** Returns the last id of a full page; null if the page is the last one. */
function endOf(ids: readonly string[], pageSize: number): string | null {
  return ids.length < pageSize ? null : (ids.at(-1) ?? null);
}

function least(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
