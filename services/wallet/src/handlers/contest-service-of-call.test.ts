import { type Caller, CallNotPermittedError } from '@laurel/grpc';
import { SERVICE_NAMES } from '@laurel/topology';
import { contestServiceOf, feeTransferId, newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkIsOwner, checkOwned, checkOwnedFee } from './contest-service-of-call.ts';

const CONTEST_SERVICES = ['challenge', 'tournament'] as const;
const callers = fc.constantFrom<Caller[]>(...SERVICE_NAMES, undefined);
const isPermitted = (check: () => void): boolean => {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof CallNotPermittedError) return false;
    throw error;
  }
};
const isOwner = (caller: Caller) => caller === 'challenge' || caller === 'tournament';

test('a contest service may name only its own attempts and awards', () => {
  const ids = fc.constantFrom(
    ...CONTEST_SERVICES.map((owner) => ({ owner, id: newOwnedId(owner) })),
    { owner: null, id: newId() },
    { owner: null, id: 'nonsense' },
  );
  fc.assert(
    fc.property(callers, ids, (caller, { owner, id }) => {
      expect(isPermitted(() => checkOwned({ caller }, id))).toBe(!isOwner(caller) || caller === owner);
    }),
  );
});

test('a contest service may name a fee only if its transfer id derives from an attempt of that service', () => {
  const attempts = CONTEST_SERVICES.flatMap((owner) => [newOwnedId(owner), newOwnedId(owner)]);
  const generations = fc.constantFrom(0, 1, 2);
  const derived = fc
    .tuple(fc.constantFrom(...attempts), generations)
    .map(([attemptId, generation]) => feeTransferId(attemptId, generation));
  const transfers = fc.oneof(derived, fc.constantFrom(newId(), ...attempts));
  const fees = fc.record({
    transferId: transfers,
    attemptId: fc.constantFrom(null, newId(), ...attempts),
    feeGeneration: generations,
  });
  const rightful = fc.tuple(fc.constantFrom(...attempts), generations).map(([attemptId, feeGeneration]) => ({
    transferId: feeTransferId(attemptId, feeGeneration),
    attemptId,
    feeGeneration,
  }));
  fc.assert(
    fc.property(callers, fc.oneof(fees, rightful), (caller, fee) => {
      const { transferId, attemptId, feeGeneration } = fee;
      const isOwn =
        attemptId !== null &&
        contestServiceOf(attemptId) === caller &&
        feeTransferId(attemptId, feeGeneration) === transferId;
      expect(isPermitted(() => checkOwnedFee({ caller }, fee))).toBe(!isOwner(caller) || isOwn);
    }),
    { numRuns: 1_000 },
  );
});

test('a contest service may not act as another', () => {
  fc.assert(
    fc.property(callers, fc.constantFrom(...CONTEST_SERVICES, null), (caller, owner) => {
      expect(isPermitted(() => checkIsOwner({ caller }, owner))).toBe(!isOwner(caller) || caller === owner);
    }),
  );
});
