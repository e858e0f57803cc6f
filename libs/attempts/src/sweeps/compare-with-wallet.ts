/**
 * The audit of two databases without a common snapshot. A contest service's rows ("ours") and the
 * wallet's are merged in id order, slice by slice. Ours are read first, so the state in our row had
 * to be true in the wallet before. A finding that this order does not prove is kept only if our
 * row, read again after the wallet's, still fails the same check.
 */
import type { Finding } from '../domain/finding.ts';

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
 * The confirmed findings about ids above `after`, up to the end of the shorter page: `until`, which
 * is null if both databases have no more. Ids compare as text, because both databases order uuids
 * by their bytes.
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

/** The last id of a full page; null for the last page. */
function endOf(ids: readonly string[], pageSize: number): string | null {
  return ids.length < pageSize ? null : (ids.at(-1) ?? null);
}

function least(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
