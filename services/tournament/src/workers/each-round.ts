/** Processes several rounds at a time. */

/** Some rounds of a run failed; `errors` has the cause of each, with its round. */
class RoundsFailedError extends AggregateError {
  override readonly name = 'RoundsFailedError';
}

/** Processes every round, this many at a time. One that fails does not block the others; the failures are thrown after them. */
export async function eachRound(
  roundIds: readonly string[],
  lanes: number,
  work: (roundId: string) => Promise<void>,
): Promise<void> {
  const failures: Error[] = [];
  // One iterator for all lanes: each takes the next round when it has finished one.
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
