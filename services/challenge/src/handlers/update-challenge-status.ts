/**
 * UpdateChallengeStatus: an operator suspends, closes or reinstates a challenge.
 *
 * One transaction, in this order: it locks the drift monitor, so that no outcome is counted
 * meanwhile; it locks the challenge and decides; it changes the status, and writes a row of the
 * history and, for a suspension, the event. If the challenge is live again, its monitor starts
 * over: outcomes that still wait do not count, and the earlier evidence stays in the readings and
 * in the history.
 *
 * A crash before the commit leaves everything unchanged, and the operator asks again. A crash after
 * it leaves the new status and an event that the relay publishes. An operator who asks again finds
 * the status and changes nothing.
 */

import { isRefused, type Refused, refused } from '@laurel/errors';
import type { Outbox } from '@laurel/events';
import { type Handlers, parseId } from '@laurel/grpc';
import { isStorable } from '@laurel/json';
import type { Database, Transaction } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, findName } from '@laurel/proto/enum-names';
import type { Event } from '@laurel/proto/events';
import type { Clock } from '@laurel/service';
import { MAX_NOTE_CHARACTERS } from '@laurel/values/limits';
import type { Challenge } from '../domain/challenge.ts';
import { decideStatusChange } from '../domain/status-change.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { challengeSuspended } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import { findChallenge, lockChallenge, updateChallengeStatus as updateStatus } from '../repository/challenges.ts';
import { lockMonitor, restartMonitor } from '../repository/drift-monitors.ts';
import { findCauseOfSuspension, insertStatusChange } from '../repository/status-changes.ts';
import { presentChallenge } from './present.ts';

type Deps = {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly ceilings: TierCeilings;
  readonly clock: Clock;
};

type Wanted = {
  readonly id: string;
  readonly status: 'live' | 'suspended' | 'closed';
  /** Null for none. */
  readonly note: string | null;
};

export function updateChallengeStatus(deps: Deps): Handlers<ChallengeServiceService>['updateChallengeStatus'] {
  const { database, outbox, ceilings } = deps;
  return async (request) => {
    const id = parseId(request.challengeId);
    const status = findName(CHALLENGE_STATUSES, request.status);
    if (status === undefined || status === 'calibrating') {
      return refused('conflict', 'status can be set to live, suspended or closed.');
    }
    const note = request.note ?? '';
    if (!isStorable(note, MAX_NOTE_CHARACTERS)) {
      return refused('invalid_request', `note must have at most ${MAX_NOTE_CHARACTERS} characters, without NUL.`);
    }

    const wanted: Wanted = { id, status, note: note.trim() === '' ? null : note };
    const change = () => database.transaction((tx) => changeStatus(tx, wanted, deps), { beforeCommit });
    // The second call is for a challenge that went live between the two locks. Such a challenge has
    // a monitor now, which the second call locks.
    const changed = (await change()) ?? (await change());
    if (changed === null) throw new Error(`the monitor of challenge ${id} could not be locked`);
    if (isRefused(changed)) return changed;
    await failpoint('challenge.status.after-commit');
    outbox.publish(changed.events);
    return { challenge: presentChallenge(changed.challenge, ceilings) };
  };
}

const beforeCommit = () => failpoint('challenge.status.before-commit');

/**
 * Changes the status. Null if it changed nothing, because the challenge has a monitor that this
 * transaction has not locked.
 */
async function changeStatus(
  tx: Transaction,
  { id, status, note }: Wanted,
  { outbox, clock }: Deps,
): Promise<{ readonly challenge: Challenge; readonly events: readonly Event[] } | Refused | null> {
  // The statements are sent together and run in this order, so that all reads are under the locks.
  const [isMonitored, , challenge, suspendedBy] = await Promise.all([
    lockMonitor(tx, id),
    lockChallenge(tx, id),
    findChallenge(tx, id),
    findCauseOfSuspension(tx, id),
  ]);
  if (challenge === null) return refused('not_found');
  if (challenge.threshold !== null && !isMonitored) return null;
  const change = decideStatusChange(challenge, status, { note, suspendedBy });
  if (isRefused(change)) return change;
  if (change.status === challenge.status) return { challenge, events: [] };

  const now = clock();
  const events = change.status === 'suspended' ? [challengeSuspended(challenge, now)] : [];
  const byOperator = { from: challenge.status, to: change.status, cause: 'operator', note, evidence: null } as const;
  await updateStatus(tx, id, change.status);
  await insertStatusChange(tx, { challengeId: id, changedAt: now, ...byOperator });
  if (isMonitored && change.status === 'live') await restartMonitor(tx, id, now);
  await outbox.insert(tx, events);
  const after = await findChallenge(tx, id);
  if (after === null) throw new Error(`challenge ${id} is not there any more`);
  return { challenge: after, events };
}
