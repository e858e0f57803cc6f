import { describe, expect, test } from 'vitest';
import { decideApproval, PROGRAM_STATUSES } from './program.ts';

describe('the approval of a program', () => {
  test('issues a live key to a program that never had one', () => {
    expect(decideApproval({ status: 'draft', hadLiveKey: false })).toEqual({ kind: 'approved' });
  });

  test('is refused for good once there was a live key', () => {
    for (const status of PROGRAM_STATUSES) {
      expect(decideApproval({ status, hadLiveKey: true })).toMatchObject({ code: 'conflict' });
    }
  });

  test('is refused to a closed program', () => {
    expect(decideApproval({ status: 'closed', hadLiveKey: false })).toMatchObject({ code: 'conflict' });
  });
});
