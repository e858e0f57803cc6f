/** Processes several rounds at a time. */

/** Some rounds of a run failed. `errors` has the cause of each, with its round. */
class RoundsFailedError extends AggregateError {
  override readonly name = 'RoundsFailedError';
}

/**
 * Processes every round, `lanes` at a time. A round that fails does not block the others; all
 * failures are thrown at the end.
 */
export async function eachRound(
  roundIds: readonly string[],
  lanes: number,
  work: (roundId: string) => Promise<void>,
): Promise<void> {
  const failures: Error[] = [];
  // All lanes share one iterator: each takes the next round when it has finished one.
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
