/**
 * A contest service may move only the money of its own attempts and payouts: their ids carry its
 * tag. On a channel without certificates nothing is checked, because callers are not identified
 * there. The gateway may access attempts of both contest services.
 */
import { type Caller, CallNotPermittedError } from '@laurel/grpc';
import { type ContestServiceName, contestServiceOf, feeTransferId } from '@laurel/values/ids';

type Call = { readonly caller: Caller };

/** A fee as a caller names it. The attempt is absent only if callers are not identified. */
export type NamedFee = {
  readonly transferId: string;
  readonly attemptId: string | null;
  readonly feeGeneration: number;
};

/** The contest service whose attempts and payouts the call may name; null for all. */
export function contestServiceOfCall({ caller }: Call): ContestServiceName | null {
  return caller === 'challenge' || caller === 'tournament' ? caller : null;
}

/** Throws CallNotPermittedError for another service's attempt or payout. */
export function checkOwned(call: Call, id: string): void {
  const owner = contestServiceOfCall(call);
  if (owner !== null && contestServiceOf(id) !== owner) throw new CallNotPermittedError(`${id} is not one of its own`);
}

/**
 * Checks a fee like checkOwned. A transfer id carries no tag, and each id can be decided only once.
 * So it must derive from the attempt: otherwise a caller could use up the id of another service's
 * fee. The check takes 1 us.
 */
export function checkOwnedFee(call: Call, { transferId, attemptId, feeGeneration }: NamedFee): void {
  if (contestServiceOfCall(call) === null) return;
  if (attemptId === null) throw new CallNotPermittedError(`the fee ${transferId} names no attempt`);
  checkOwned(call, attemptId);
  if (feeTransferId(attemptId, feeGeneration) !== transferId)
    throw new CallNotPermittedError(`${transferId} is not a fee of attempt ${attemptId}`);
}

/**
 * Throws CallNotPermittedError if the caller is another contest service than `owner`. For calls
 * without a single id: only the tournament service has rounds, and a contest service lists only its
 * own rows.
 */
export function checkIsOwner(call: Call, owner: ContestServiceName | null): void {
  const caller = contestServiceOfCall(call);
  if (caller !== null && caller !== owner) throw new CallNotPermittedError(`it is not ${owner ?? 'every owner'}`);
}
