/**
 * Tries a batch of requests with an optimistic write first: one statement decides on cached facts,
 * and takes effect only where they still hold. The other requests are read and decided under lock
 * (decision 21).
 *
 * Invariants: every request has exactly one result, in the order of the requests. `underLock` is
 * called at most once, with the requests that the optimistic write left, in order. It is not called
 * if no request is left.
 */

/** The steps of a batch of requests. A result is a value, never null. */
export type OptimisticBatch<Request, Result extends object> = {
  /** Resolves with one result for each request, in order; null for a request that had no effect. */
  readonly optimistic: (batch: readonly Request[]) => Promise<readonly (Result | null)[]>;
  /** Resolves with one result for each request, in order. */
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
