import { later } from '@laurel/values/instant';
import { describe, expect, test } from 'vitest';
import {
  type Approval,
  decideApproval,
  decideLiveKeyReplacement,
  openEnvironmentsOf,
  PROGRAM_STATUSES,
  type ProgramStatus,
  REPEATED_APPROVAL_WINDOW_MS,
} from './program.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const BY = { operator: 'ana', now: NOW };
const APPROVAL: Approval = { operator: 'ana', approvedAt: NOW, isKeyCurrent: true, wasKeyUsed: false };

describe('approval of a program', () => {
  test('approval issues a live key to a program that never had one', () => {
    expect(decideApproval({ status: 'draft', hadLiveKey: false, approval: null }, BY)).toEqual({ kind: 'approved' });
  });

  test('a program whose live key has no recorded approval cannot be approved again', () => {
    for (const status of PROGRAM_STATUSES) {
      expect(decideApproval({ status, hadLiveKey: true, approval: null }, BY)).toMatchObject({ code: 'conflict' });
    }
  });

  test('approval is refused to a closed program', () => {
    expect(decideApproval({ status: 'closed', hadLiveKey: false, approval: null }, BY)).toMatchObject({
      code: 'conflict',
    });
  });

  test('the operator who approved a program may repeat the approval for a short time, while the key is unused', () => {
    const decide = (changes: Partial<Approval>, status: ProgramStatus = 'approved', by = BY) =>
      decideApproval({ status, hadLiveKey: true, approval: { ...APPROVAL, ...changes } }, by);
    const at = (milliseconds: number) => ({ ...BY, now: later(NOW, milliseconds) });
    expect(decide({})).toEqual({ kind: 'repeated' });
    expect(decide({}, 'approved', at(REPEATED_APPROVAL_WINDOW_MS - 1))).toEqual({ kind: 'repeated' });
    expect(
      [
        decide({}, 'approved', at(REPEATED_APPROVAL_WINDOW_MS)),
        decide({ operator: 'bea' }),
        decide({ wasKeyUsed: true }),
        decide({ isKeyCurrent: false }),
        decide({}, 'suspended'),
        decide({}, 'closed'),
      ].map((decision) => ('code' in decision ? decision.code : decision.kind)),
    ).toEqual(Array<string>(6).fill('conflict'));
  });
});

test('a live key is replaced only while it works', () => {
  for (const status of PROGRAM_STATUSES) {
    const decisions = [true, false].map((hasLiveKey) => decideLiveKeyReplacement({ status, hasLiveKey }));
    const conflict = expect.objectContaining({ code: 'conflict' });
    expect(decisions).toEqual([status === 'approved' ? { kind: 'replaced' } : conflict, conflict]);
  }
});

test('a draft is open in test alone, and an approved program in both environments', () => {
  const open = (deletionScheduled: boolean) =>
    PROGRAM_STATUSES.map((status) => openEnvironmentsOf({ status, deletionScheduled }));
  expect(open(false)).toEqual([['test'], ['test', 'live'], [], []]);
  expect(open(true)).toEqual([[], [], [], []]);
});
