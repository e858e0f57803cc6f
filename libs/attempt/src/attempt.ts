/**
 * The states of an attempt. A partner sees four of them: `open`, `settled`, `expired` and `voided` (partner API, "States and
 * transitions"). The others lie between two commits of two databases and are resolved before anyone is answered.
 *
 * - `pending`: written down, its fee not known to be posted. The wallet's row decides: posted makes it `open`, refused or fenced
 *   makes it `refused`. Nobody was told of it yet.
 * - `open`: paid (or free) and waiting for its outcome, until its hour has passed.
 * - `settled`: has its outcome. Final.
 * - `expiring`: its hour passed without an outcome; the refund is not known to be posted. Becomes `expired` once it is. Final.
 * - `voiding`: an operator ended it; the same, and becomes `voided`. Final.
 * - `refused`: nothing was charged and it is never shown. It keeps the refusal for a repeat of the same request. Final, but for an
 *   attempt that nobody refused: its process died before the wallet heard of the fee, and the sweeper fenced that fee. A retry of the
 *   request begins it again under a new fee id.
 *
 * An attempt that was free has nothing to return: it goes from `open` to `expired` or `voided` at once.
 * A `pending` attempt may settle at once where its fee is known to be posted and only the write of `open` is still on its way.
 */

export type AttemptStatus = 'pending' | 'open' | 'settled' | 'expiring' | 'expired' | 'voiding' | 'voided' | 'refused';

/** What a partner sees. */
export type ShownStatus = 'open' | 'settled' | 'expired' | 'voided';

const MOVES: Record<AttemptStatus, readonly AttemptStatus[]> = {
  pending: ['open', 'settled', 'refused'],
  open: ['settled', 'expiring', 'expired', 'voiding', 'voided'],
  settled: [],
  expiring: ['expired'],
  expired: [],
  voiding: ['voided'],
  voided: [],
  refused: ['pending', 'open'],
};

const SHOWN: Record<AttemptStatus, ShownStatus | null> = {
  pending: null,
  open: 'open',
  settled: 'settled',
  expiring: 'expired',
  expired: 'expired',
  voiding: 'voided',
  voided: 'voided',
  refused: null,
};

/** The states in which a paid attempt takes up a place under a cap: its fee was not returned. */
export const CAP_COUNTED: readonly AttemptStatus[] = ['pending', 'open', 'settled'];

export function canMove(from: AttemptStatus, to: AttemptStatus): boolean {
  return MOVES[from].includes(to);
}

/** Whether an outcome may be recorded, the hour aside. */
export function canSettle(status: AttemptStatus, feePosted: boolean): boolean {
  return status === 'open' || (status === 'pending' && feePosted);
}

/** The word that a partner reads; null for what is never shown. */
export function shownStatus(status: AttemptStatus): ShownStatus | null {
  return SHOWN[status];
}

export function isVisible(status: AttemptStatus): boolean {
  return SHOWN[status] !== null;
}

/** Where an attempt goes once its fee is back; null where no refund is under way. */
export function afterRefund(status: AttemptStatus): 'expired' | 'voided' | null {
  if (status === 'expiring') return 'expired';
  if (status === 'voiding') return 'voided';
  return null;
}

/** The first instant at which an outcome comes too late. */
export function deadlineOf(createdAt: Date, ttlMs: number): Date {
  return new Date(createdAt.getTime() + ttlMs);
}

/** The hour is a deadline, not a sweep: at `created_at` + 1 h exactly the attempt is over, whether or not anyone has marked it. */
export function isDue(createdAt: Date, ttlMs: number, now: Date): boolean {
  return now.getTime() >= createdAt.getTime() + ttlMs;
}
