/**
 * Which attempts of a player would accept a score now, for a report that names its player instead of its attempt. The player is the account
 * that the ref names now, whichever of its refs made the attempt; and the ref itself for free attempts from before it was linked.
 *
 * The owner reads the candidates: those that are not overdue, oldest first. One that is still `pending` may be paid for already, because
 * `open` is written after the answer to a creation; the wallet decides.
 */
import type { AttemptOpener } from './open-attempts.ts';
import type { PendingAttempt } from './repository/sweeps.ts';
import type { PendingResolver } from './resolve-pending.ts';

/** An attempt that is `open` or `pending`. */
export type OpenCandidate = PendingAttempt & { readonly isPending: boolean };

/** The candidates that are read of one player: the open ones that are answered, and room for some that were never paid for. */
export const MAX_OPEN_CANDIDATES = 12;

/** One is the attempt that a report means; a second one is enough to know that it is not the only one. */
const MAX_OPEN = 2;

/** The ids of the open ones, in order. */
export async function keepOpen(
  candidates: readonly OpenCandidate[],
  deps: { readonly opener: AttemptOpener; readonly resolver: PendingResolver; readonly now: Date },
): Promise<string[]> {
  const open: string[] = [];
  for (const candidate of candidates) {
    if (open.length === MAX_OPEN) break;
    if (!candidate.isPending || (await isPaid(candidate, deps))) open.push(candidate.id);
  }
  return open;
}

async function isPaid(
  pending: PendingAttempt,
  { opener, resolver, now }: Parameters<typeof keepOpen>[1],
): Promise<boolean> {
  if (opener.isKnownPosted(pending.id)) return true;
  const { resolution } = await resolver.resolve(pending, now);
  return resolution.kind === 'posted';
}
