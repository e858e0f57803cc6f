/** Several rounds at a time. */

/** What became of some rounds of a run; `errors` says why, each with its round. */
class RoundsFailedError extends AggregateError {
  override readonly name = 'RoundsFailedError';
}

/** Works on every round, this many at a time. One that fails holds up none of the others; the failures are thrown behind them. */
export async function eachRound(
  roundIds: readonly string[],
  lanes: number,
  work: (roundId: string) => Promise<void>,
): Promise<void> {
  const failures: Error[] = [];
  // One iterator for all lanes: each takes the next round when it is done with one.
  const rounds = roundIds.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const id of rounds) {
        await work(id).catch((cause: unknown) => failures.push(new Error(`round ${id} failed`, { cause })));
      }
    }),
  );
  if (failures.length > 0)
    throw new RoundsFailedError(failures, `${failures.length} of ${roundIds.length} rounds failed`);
}
