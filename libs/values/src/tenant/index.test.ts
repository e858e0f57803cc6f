import { expect, test } from 'vitest';
import { ENVIRONMENTS, isSameTenant } from './index.ts';

test('a program in test and the same program in live are two tenants', () => {
  for (const one of ENVIRONMENTS) {
    for (const other of ENVIRONMENTS) {
      const isSame = isSameTenant({ programId: 'p', environment: one }, { programId: 'p', environment: other });
      expect(isSame).toBe(one === other);
    }
    expect(isSameTenant({ programId: 'p', environment: one }, { programId: 'q', environment: one })).toBe(false);
  }
});
