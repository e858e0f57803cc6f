import { describe, expect, test } from 'vitest';
import { decideApproval, decideLiveKeyReplacement, openEnvironmentsOf, PROGRAM_STATUSES } from './program.ts';

describe('approval of a program', () => {
  test('approval issues a live key to a program that never had one', () => {
    expect(decideApproval({ status: 'draft', hadLiveKey: false })).toEqual({ kind: 'approved' });
  });

  test('approval is refused permanently once there was a live key', () => {
    for (const status of PROGRAM_STATUSES) {
      expect(decideApproval({ status, hadLiveKey: true })).toMatchObject({ code: 'conflict' });
    }
  });

  test('approval is refused to a closed program', () => {
    expect(decideApproval({ status: 'closed', hadLiveKey: false })).toMatchObject({ code: 'conflict' });
  });
});

test('a live key is replaced only while it works', () => {
  for (const status of PROGRAM_STATUSES) {
    const decisions = [true, false].map((hasLiveKey) => decideLiveKeyReplacement({ status, hasLiveKey }));
    const conflict = expect.objectContaining({ code: 'conflict' });
    expect(decisions).toEqual([status === 'approved' ? { kind: 'replaced' } : conflict, conflict]);
  }
});

test('a program is open in the sandbox as a draft, everywhere once approved, and nowhere while its deletion is scheduled', () => {
  const open = (deletionScheduled: boolean) =>
    PROGRAM_STATUSES.map((status) => openEnvironmentsOf({ status, deletionScheduled }));
  expect(open(false)).toEqual([['test'], ['test', 'live'], [], []]);
  expect(open(true)).toEqual([[], [], [], []]);
});
