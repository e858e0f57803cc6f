/**
 * A batch whose requests are tried with an optimistic write first: what may be decided on cached facts goes into one statement that takes
 * effect only where the facts still hold. The other requests, and those that the statement left out, are read and decided under lock
 * (decision 21).
 *
 * Invariants: every request has exactly one result, the results are in the order of the requests, and `underLock` is called once, for the
 * requests that the optimistic write left, in their order; it is not called where none are left.
 */

/** The steps of a batch of requests. A result is a value, never null. */
export type OptimisticBatch<Request, Result extends object> = {
  /** One for each request, in order; null for one that had no effect. */
  readonly optimistic: (batch: readonly Request[]) => Promise<readonly (Result | null)[]>;
  /** One for each request, in order. */
  readonly underLock: (rest: readonly Request[]) => Promise<readonly Result[]>;
};

export async function runOptimisticBatch<Request, Result extends object>(
  batch: readonly Request[],
  { optimistic, underLock }: OptimisticBatch<Request, Result>,
): Promise<readonly Result[]> {
  const written = await optimistic(batch);
  if (written.length !== batch.length) {
    throw new Error(`the optimistic write has ${written.length} results for ${batch.length} requests`);
  }
  const rest = batch.filter((_, index) => written[index] === null);
  const decided = rest.length === 0 ? [] : await underLock(rest);
  if (decided.length !== rest.length) {
    throw new Error(`the decision under lock has ${decided.length} results for ${rest.length} requests`);
  }

  const others = decided.values();
  return written.map((result) => {
    if (result !== null) return result;
    const other = others.next();
    if (other.done) throw new Error('a request has no result');
    return other.value;
  });
}
