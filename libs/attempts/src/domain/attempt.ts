/**
 * The states of an attempt. A partner sees four of them: `open`, `settled`, `expired` and `voided`
 * (docs/contract/partner-api.md, "Attempt status"). The other states lie between the commits of two
 * databases; the service resolves them before it answers a call.
 *
 * - `pending`: reserved; the fee is not known to be posted, and no partner has seen the attempt.
 *   The wallet's row decides: a posted fee makes the attempt `open`, a refusal or tombstone makes
 *   it `refused`.
 * - `open`: paid (or free) and waiting for its outcome, until its deadline an hour after creation.
 * - `settled`: has its outcome. Final.
 * - `expiring`: its deadline passed without an outcome, and the refund is not known to be posted.
 *   Becomes `expired` once it is. Final.
 * - `voiding`: an operator ended it, and the refund is not known to be posted. Becomes `voided`
 *   once it is. Final.
 * - `refused`: nothing was charged, and no partner ever sees the attempt. It keeps the refusal for
 *   a repeat of the same request. Final, unless the attempt was abandoned: its process died before
 *   the wallet received the fee, and the sweeper wrote the fee's tombstone. A retry of the request
 *   restarts such an attempt under a new fee id.
 *
 * A free attempt has no fee to return: it goes directly from `open` to `expired` or `voided`. A
 * `pending` attempt may settle directly if its fee is known to be posted and only the write of
 * `open` is outstanding.
 */

export type AttemptStatus = 'pending' | 'open' | 'settled' | 'expiring' | 'expired' | 'voiding' | 'voided' | 'refused';

/** The status that a partner sees. */
export type ShownStatus = 'open' | 'settled' | 'expired' | 'voided';

const NEXT_STATUSES: Record<AttemptStatus, readonly AttemptStatus[]> = {
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

/** The states in which a paid attempt counts towards a cap: its fee was not refunded. */
export const CAP_COUNTED: readonly AttemptStatus[] = ['pending', 'open', 'settled'];

export function canChangeStatus(from: AttemptStatus, to: AttemptStatus): boolean {
  return NEXT_STATUSES[from].includes(to);
}

/** Whether an outcome may be recorded, ignoring the deadline. */
export function canSettle(status: AttemptStatus, feePosted: boolean): boolean {
  return status === 'open' || (status === 'pending' && feePosted);
}

/** The status that a partner reads; null for a state that is never shown. */
export function shownStatus(status: AttemptStatus): ShownStatus | null {
  return SHOWN[status];
}

export function isVisible(status: AttemptStatus): boolean {
  return SHOWN[status] !== null;
}

/** Returns the state of an attempt after its refund; null if no refund is under way. */
export function afterRefund(status: AttemptStatus): 'expired' | 'voided' | null {
  if (status === 'expiring') return 'expired';
  if (status === 'voiding') return 'voided';
  return null;
}
