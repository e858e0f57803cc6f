import { feeTransferId, newOwnedId } from '@laurel/ids';
import { describe, expect, it } from 'vitest';
import { feeTransferOf } from './owned-attempt.ts';

describe('the fee of an attempt', () => {
  it('is the attempt fee transfer at first, and another one for each time it begins again', () => {
    const id = newOwnedId('challenge');
    const ids = [0, 1, 2].map((feeGeneration) => feeTransferOf({ id, feeGeneration }));
    expect(ids[0]).toBe(feeTransferId(id));
    expect(new Set(ids).size).toBe(3);
  });
});
