/**
 * A program's states.
 * - draft: made by an operator; its test key works, it has no live key.
 * - approved: its test and live keys work. Approval issues the live key, once in a program's life.
 * - suspended, closed: no key works. An operator may reinstate either by setting `approved`.
 * Scheduling an account for deletion stops every key too, whatever the status (contract, Authentication 3).
 */
import { type Refused, refused } from '@laurel/errors';

export const PROGRAM_STATUSES = ['draft', 'approved', 'suspended', 'closed'] as const;
export type ProgramStatus = (typeof PROGRAM_STATUSES)[number];

/** Live keys are issued at approval and never again: there is no rotation of live keys by itself. */
export function decideApproval(program: {
  status: ProgramStatus;
  hadLiveKey: boolean;
}): Refused | { kind: 'approved' } {
  if (program.hadLiveKey) return refused('conflict', 'This program was approved before; its live key was shown then.');
  if (program.status === 'closed') return refused('conflict', 'This program is closed.');
  return { kind: 'approved' };
}
