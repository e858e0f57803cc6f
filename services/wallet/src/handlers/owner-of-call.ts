/**
 * An owner of attempts may move the money of its own attempts and payouts only, whose ids carry its tag. Where callers are not identified
 * (a channel without certificates) nothing is checked; the gateway, which owns no attempts, may access those of both owners.
 */
import { type Caller, CallNotPermittedError } from '@laurel/grpc';
import { type AttemptOwner, feeTransferId, ownerOf } from '@laurel/ids';

type Call = { readonly caller: Caller };

/** A fee as a caller names it; without an attempt only where callers are not identified. */
export type NamedFee = {
  readonly transferId: string;
  readonly attemptId: string | null;
  readonly feeGeneration: number;
};

/** The owner whose attempts and payouts the call may name; null for every owner's. */
export function ownerOfCall({ caller }: Call): AttemptOwner | null {
  return caller === 'challenge' || caller === 'tournament' ? caller : null;
}

/** Throws CallNotPermittedError for the attempt or payout of another owner. */
export function checkOwned(call: Call, id: string): void {
  const owner = ownerOfCall(call);
  if (owner !== null && ownerOf(id) !== owner) throw new CallNotPermittedError(`${id} is not one of its own`);
}

/**
 * As checkOwned, for a fee. A transfer id carries no owner's tag, and a decision uses it up, so it must be the one that derives from the
 * attempt: the id of another owner's fee derives from no attempt that this owner may name. It takes 1 us.
 */
export function checkOwnedFee(call: Call, { transferId, attemptId, feeGeneration }: NamedFee): void {
  if (ownerOfCall(call) === null) return;
  if (attemptId === null) throw new CallNotPermittedError(`the fee ${transferId} names no attempt`);
  checkOwned(call, attemptId);
  if (feeTransferId(attemptId, feeGeneration) !== transferId)
    throw new CallNotPermittedError(`${transferId} is no fee of attempt ${attemptId}`);
}

/** As checkOwned, for calls that are not about one id: only the tournament service has rounds, and an owner lists its own rows. */
export function checkIsOwner(call: Call, owner: AttemptOwner | null): void {
  const caller = ownerOfCall(call);
  if (caller !== null && caller !== owner) throw new CallNotPermittedError(`it is not ${owner ?? 'every owner'}`);
}
