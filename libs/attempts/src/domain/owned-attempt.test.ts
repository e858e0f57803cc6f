import { feeTransferId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { feeOf } from './owned-attempt.ts';

describe('the fee of an attempt', () => {
  it('the fee of an attempt gets a new transfer id each time the attempt restarts', () => {
    const id = newOwnedId('challenge');
    const fees = [0, 1, 2].map((feeGeneration) => feeOf({ id, feeGeneration }));
    expect(fees[0]).toEqual({ transferId: feeTransferId(id), attemptId: id, feeGeneration: 0 });
    expect(fees.map((fee) => fee.feeGeneration)).toEqual([0, 1, 2]);
    expect(new Set(fees.map((fee) => fee.transferId)).size).toBe(3);
  });
});
