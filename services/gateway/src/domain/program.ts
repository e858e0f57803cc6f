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
import { millisecondsBetween } from '@laurel/values/instant';
import type { ApiKeyEnvironment } from './api-key.ts';

export const PROGRAM_STATUSES = ['draft', 'approved', 'suspended', 'closed'] as const;
export type ProgramStatus = (typeof PROGRAM_STATUSES)[number];

/**
 * The environments in which a program's keys work, by its status, unless its deletion is scheduled.
 */
export const OPEN_ENVIRONMENTS: Readonly<Record<ProgramStatus, readonly ApiKeyEnvironment[]>> = {
  draft: ['test'],
  approved: ['test', 'live'],
  suspended: [],
  closed: [],
};

/** The environments in which a program is open now: its keys and its integrations work there. */
export function openEnvironmentsOf(program: {
  readonly status: ProgramStatus;
  readonly deletionScheduled: boolean;
}): readonly ApiKeyEnvironment[] {
  return program.deletionScheduled ? [] : OPEN_ENVIRONMENTS[program.status];
}

/** What the integration service must know of a program. */
export interface ProgramFacts {
  readonly programId: string;
  readonly developerId: string | null;
  readonly openEnvironments: readonly ApiKeyEnvironment[];
  /** Each change raises it. */
  readonly version: bigint;
}

/** Which of the services that keep facts of programs could be reached. */
export type AnnouncedTo = 'all' | 'some' | 'none';

/**
 * How long an operator may repeat an approval whose response was lost: enough to read the page and
 * press the button again.
 */
export const REPEATED_APPROVAL_WINDOW_MS = 10 * 60_000;

/** The approval of a program, and the live key that it issued last. */
export interface Approval {
  readonly operator: string;
  readonly approvedAt: Date;
  /** Whether no other key has replaced the key. */
  readonly isKeyCurrent: boolean;
  readonly wasKeyUsed: boolean;
}

/**
 * Approval issues the first live key, once in a program's life. The same operator may repeat the
 * approval for a short time, because only its response shows the key and may have been lost. The
 * repetition replaces the key. It is therefore refused once a request has used the key.
 */
export function decideApproval(
  program: { status: ProgramStatus; hadLiveKey: boolean; approval: Approval | null },
  by: { operator: string; now: Date },
): Refused | { kind: 'approved' } | { kind: 'repeated' } {
  if (program.hadLiveKey) {
    if (program.status === 'approved' && mayRepeat(program.approval, by)) return { kind: 'repeated' };
    return refused(
      'conflict',
      'This program was approved before, and its live key was shown then: live-key gives a new one.',
    );
  }
  if (program.status === 'closed') return refused('conflict', 'This program is closed.');
  return { kind: 'approved' };
}

function mayRepeat(approval: Approval | null, { operator, now }: { operator: string; now: Date }): boolean {
  return (
    approval !== null &&
    approval.operator === operator &&
    approval.isKeyCurrent &&
    !approval.wasKeyUsed &&
    millisecondsBetween(approval.approvedAt, now) < REPEATED_APPROVAL_WINDOW_MS
  );
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
