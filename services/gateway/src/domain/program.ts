/**
 * A program's states.
 * - draft: an operator created it. Its test key works; it has no live key.
 * - approved: its test and live keys work. Approval issues the live key, and an operator may
 *   replace it.
 * - suspended, closed: no key works. An operator may reinstate either by setting `approved`.
 *
 * Scheduling an account for deletion stops every key too, in any status
 * (docs/contract/partner-api.md, "Authentication", rule 3).
 */
import { type Refused, refused } from '@laurel/errors';
import type { KeyEnvironment } from './api-key.ts';

export const PROGRAM_STATUSES = ['draft', 'approved', 'suspended', 'closed'] as const;
export type ProgramStatus = (typeof PROGRAM_STATUSES)[number];

/**
 * The environments in which a program's keys work, by its status, unless its deletion is scheduled.
 */
export const OPEN_ENVIRONMENTS: Readonly<Record<ProgramStatus, readonly KeyEnvironment[]>> = {
  draft: ['test'],
  approved: ['test', 'live'],
  suspended: [],
  closed: [],
};

/** The environments in which a program is open now: its keys and its integrations work there. */
export function openEnvironmentsOf(program: {
  readonly status: ProgramStatus;
  readonly deletionScheduled: boolean;
}): readonly KeyEnvironment[] {
  return program.deletionScheduled ? [] : OPEN_ENVIRONMENTS[program.status];
}

/** What the integration service must know of a program. */
export interface ProgramFacts {
  readonly programId: string;
  readonly developerId: string | null;
  readonly openEnvironments: readonly KeyEnvironment[];
  /** Each change raises it. */
  readonly version: bigint;
}

/** Which of the services that keep facts of programs could be reached. */
export type AnnouncedTo = 'all' | 'some' | 'none';

/** Approval issues the first live key, once in a program's life. */
export function decideApproval(program: {
  status: ProgramStatus;
  hadLiveKey: boolean;
}): Refused | { kind: 'approved' } {
  if (program.hadLiveKey) {
    return refused(
      'conflict',
      'This program was approved before, and its live key was shown then: live-key gives a new one.',
    );
  }
  if (program.status === 'closed') return refused('conflict', 'This program is closed.');
  return { kind: 'approved' };
}

/**
 * A live key is replaced only while it works. No key of a suspended or closed program works, so a
 * new one would be of no use.
 */
export function decideLiveKeyReplacement(program: {
  status: ProgramStatus;
  hasLiveKey: boolean;
}): Refused | { kind: 'replaced' } {
  if (program.status !== 'approved') return refused('conflict', 'This program is not approved.');
  if (!program.hasLiveKey) return refused('conflict', 'This program has no live key to replace.');
  return { kind: 'replaced' };
}
