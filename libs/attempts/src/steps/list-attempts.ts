/**
 * A page of a tenant's or an account's attempts. It reads a bounded number of rows and changes
 * nothing.
 *
 * A list that follows new attempts must not move past an attempt that becomes visible later. Two
 * kinds of attempts may still appear behind the newest ones:
 *
 * - an attempt whose commit has not ended, because `created_at` is decided before the commit. The
 *   head, where a list begins, therefore stays SETTLE_MS behind the present. If a creation waits
 *   longer for its commit (the service is overloaded, or paused), a list that follows new attempts
 *   may miss the attempt; the pages still include it. The time in an attempt's id is not used as
 *   the bound, because a retry may create the attempt hours after the gateway minted the id.
 * - an attempt whose fee the wallet has not decided, because its process has died or waits for the
 *   wallet. The head, and a list that follows new attempts, stay before this attempt until the
 *   sweeper resolves it.
 */

import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import { isBefore as isEarlier, later, millisecondsBetween } from '@laurel/values/instant';
import type { Tenant } from '@laurel/values/tenant';
import type { Contest } from '../contest.ts';
import { type AttemptStatus, isVisible, type ShownStatus, shownStatus } from '../domain/attempt.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import {
  type AttemptFilter,
  type AttemptPosition,
  type ListedRow,
  loadWindow,
  type ReadAttempts,
} from '../repository/attempt-windows.ts';
import { loadAttemptsOfAccount, type PageOfAccount } from '../repository/attempts-of-account.ts';
import type { Wallet } from '../wallet.ts';
import { type CurrentAttempt, currentAttempt, currentAward } from './current-state.ts';
import type { AttemptOpener } from './open-attempts.ts';

/** How long a creation may take from its decision to its commit. */
export const SETTLE_MS = 2_000;

/** One page reads at most this many windows: 10,000 rows. */
export const MAX_WINDOWS_PER_PAGE = 5;

/** An id above the id of every attempt. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Whose attempts the list contains: a tenant's, or an account's at all programs or at some. */
export type ListedOf =
  | { readonly kind: 'tenant'; readonly tenant: Tenant }
  | ({ readonly kind: 'account' } & Pick<PageOfAccount, 'accountId' | 'programIds' | 'environment'>);

export type AttemptQuery = {
  readonly of: ListedOf;
  readonly contestId: string | null;
  readonly playerRef: string | null;
  /** Null lists every status. */
  readonly status: ShownStatus | null;
  /** `after` follows new attempts; only a tenant's list can be followed. */
  readonly from:
    | { readonly kind: 'head' }
    | { readonly kind: 'before'; readonly position: AttemptPosition }
    | { readonly kind: 'after'; readonly position: AttemptPosition };
  readonly limit: number;
};

export type ListedAttempt = CurrentAttempt & { readonly contestId: string; readonly tenant: Tenant };

export type AttemptPage = {
  readonly attempts: readonly ListedAttempt[];
  /** Null once the list has ended. */
  readonly readTo: AttemptPosition | null;
  /** Null unless the list began at the head. */
  readonly head: AttemptPosition | null;
};

export type ListDeps = {
  readonly contestService: ContestServiceName;
  readonly contest: Contest;
  readonly database: Database;
  readonly opener: AttemptOpener;
  readonly wallet: Wallet;
  readonly clock: Clock;
};

/** `current` is null for an attempt that is not visible yet. */
type Seen = { readonly found: ListedRow; readonly current: OwnedAttempt | null };

export async function listAttempts(query: AttemptQuery, deps: ListDeps): Promise<AttemptPage> {
  const head = allUntil(later(deps.clock(), -SETTLE_MS));
  const { found, readTo } = await readAttempts(query, head, deps);
  const seen = await Promise.all(
    found.map(async (it) => ({ found: it, current: await currentAttempt(it, it.tenant.environment, deps) })),
  );
  const undecided = seen.flatMap(({ found: it, current }) => (current === null ? [it.createdAt] : []));
  const results = (until: AttemptPosition) => withResults(seen, until, deps);

  switch (query.from.kind) {
    case 'before':
      return { attempts: await results(query.from.position), readTo, head: null };
    case 'head': {
      const until = earlier(head, undecided);
      const hasPassed = readTo === null || isBefore(readTo, until);
      return { attempts: await results(until), readTo: hasPassed ? readTo : until, head: until };
    }
    case 'after': {
      const until = earlier(readTo ?? head, undecided);
      const { position } = query.from;
      // Keeps the list from moving backwards: `until` can precede the position if another replica's
      // clock is behind, or if an undecided attempt comes right after the position.
      return { attempts: await results(until), readTo: isBefore(until, position) ? position : until, head: null };
    }
  }
}

/** `readTo` is null if the rows ended. */
async function readAttempts(query: AttemptQuery, head: AttemptPosition, deps: ListDeps): Promise<ReadAttempts> {
  const { of, contestId, playerRef, status, from, limit } = query;
  const filter: AttemptFilter = { contestId, playerRef, statuses: statusesOf(status) };
  if (of.kind === 'tenant') return readWindows(of.tenant, filter, { from, limit }, head, deps);
  if (from.kind === 'after') throw new Error('the attempts of an account cannot be followed');
  const before = from.kind === 'head' ? head : from.position;
  return loadAttemptsOfAccount(deps.database, deps.contestService, filter, { ...of, from: before, limit });
}

async function readWindows(
  tenant: Tenant,
  filter: AttemptFilter,
  { from, limit }: Pick<AttemptQuery, 'from' | 'limit'>,
  head: AttemptPosition,
  { database, contestService }: ListDeps,
): Promise<ReadAttempts> {
  const order = from.kind === 'after' ? ('oldest_first' as const) : ('newest_first' as const);
  const until = from.kind === 'before' ? from.position.createdAt : head.createdAt;
  const found: ListedRow[] = [];
  let readTo: AttemptPosition | null = from.kind === 'head' ? head : from.position;
  for (let windows = 0; windows < MAX_WINDOWS_PER_PAGE && found.length < limit && readTo !== null; windows += 1) {
    const window = { order, from: readTo, until, limit: limit - found.length };
    const read: ReadAttempts = await loadWindow(database, contestService, tenant, filter, window);
    found.push(...read.found);
    readTo = read.readTo;
  }
  return { found, readTo };
}

async function withResults(
  seen: readonly Seen[],
  until: AttemptPosition,
  { contest, wallet }: ListDeps,
): Promise<readonly ListedAttempt[]> {
  const shown = seen.flatMap(({ found, current }) => {
    const isListed = current !== null && !isBefore(until, found);
    return isListed ? [{ contestId: found.contestId, tenant: found.tenant, attempt: current }] : [];
  });
  const settled = shown.flatMap(({ attempt }) => (attempt.status === 'settled' ? [attempt.id] : []));
  const results = settled.length === 0 ? new Map() : await contest.loadResults(settled);
  return Promise.all(
    shown.map(async (it) => {
      const result = results.get(it.attempt.id) ?? null;
      if (result === null) return { ...it, result };
      const award = result.award === null ? null : await currentAward(result.award, wallet);
      return { ...it, result: { ...result, award } };
    }),
  );
}

/**
 * The stored statuses that may be shown as this one. A `pending` attempt may be open already, so it
 * is looked up.
 */
function statusesOf(status: ShownStatus | null): readonly AttemptStatus[] {
  const all: readonly AttemptStatus[] = ['open', 'settled', 'expiring', 'expired', 'voiding', 'voided'];
  const visible = all.filter((it) => isVisible(it) && (status === null || shownStatus(it) === status));
  return status === null || status === 'open' ? ['pending', ...visible] : visible;
}

/** Returns the position after all attempts that were created at this instant or before. */
function allUntil(createdAt: Date): AttemptPosition {
  return { createdAt, id: LAST_ID };
}

/** Returns the earlier of the given position and the last position before all of these instants. */
function earlier(position: AttemptPosition, instants: readonly Date[]): AttemptPosition {
  return instants.reduce((found, instant) => {
    const before = allUntil(later(instant, -1));
    return isBefore(before, found) ? before : found;
  }, position);
}

function isBefore(one: AttemptPosition, other: AttemptPosition): boolean {
  if (isEarlier(one.createdAt, other.createdAt)) return true;
  return millisecondsBetween(one.createdAt, other.createdAt) === 0 && one.id < other.id;
}
