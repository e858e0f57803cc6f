/**
 * The optimistic write of attempts that were decided on a cached challenge, assuming that neither
 * claim, rung nor cap refuses the player. One round trip checks these assumptions and writes the
 * attempts for which they hold. It does so under the lock of (challenge, account), in a snapshot
 * taken after the lock, like every other creation.
 */
import {
  idempotencyUseColumns,
  insertAfterLocks,
  insertingIdempotencyUses,
  isAfterLowWatermarkSql,
} from '@laurel/attempts';
import type { IdempotencyUse } from '@laurel/attempts/domain';
import type { BatchOptions, Database } from '@laurel/postgres';
import type { Attempt } from '../domain/challenge.ts';
import { MAX_UNCONFIRMED_ATTEMPTS } from '../domain/ramp.ts';
import { USES_OF_MADE_ATTEMPTS } from './attempts.ts';
import { allowsPaidAttemptSql, windowStart } from './creation-rules.ts';
import { lockOfPlayers } from './player-facts.ts';
import { isUnconfirmedSql, slotsInUseSql, takingSlots } from './ramp-slots.ts';

/** A paid attempt to insert, and the version of the challenge's row on which it was decided. */
export type OptimisticAttempt = {
  readonly attempt: Attempt;
  readonly challengeVersion: bigint;
  /** Whether the challenge's bar was unconfirmed, so that the attempt needs a slot. */
  readonly needsSlot: boolean;
  readonly idempotencyUse: IdempotencyUse | null;
};

// What may have changed since the challenge was cached, and where it is checked:
// - status and bar of the challenge, and any other column of its row: a trigger raises the row's
//   version at every update.
// - claim, rung and cap: checked here, by creation-rules.ts.
// - the slots of a challenge whose bar is unconfirmed: checked here, under the lock on the slots.
//   Other challenges need no slot, and cannot start to need slots without a new version of the row.
// - the attempt id: an attempt that already exists is left unchanged.
// - the idempotency key: a key that is already recorded is a unique violation, and nothing of the
//   batch is written.
// - the low watermark of the sweep: a batch that waited too long is decided again.
const insertText = ({ slots }: { slots: boolean }) => `
with made as (
  insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
  select i.id, i.challenge_id, i.account_id, i.player_ref, 'pending', i.fee_cents, i.prize_cents, i.threshold, i.metadata, $10
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::float8[], $8::text[], $14::bigint[]${slots ? ', $15::int[]' : ''})
    as i (id, challenge_id, account_id, player_ref, fee_cents, prize_cents, threshold, metadata, challenge_version${slots ? ', nth' : ''})
  where ${isAfterLowWatermarkSql('$10')} and (
    select ${allowsPaidAttemptSql({ challenge: 'c', accountId: 'i.account_id', since: '$9' })}${
      slots
        ? `
      and case when ${isUnconfirmedSql('c')} then ${slotsInUseSql('c.id')} + i.nth <= ${MAX_UNCONFIRMED_ATTEMPTS} else true end`
        : ''
    }
    from challenges c where c.id = i.challenge_id and c.version = i.challenge_version)
  order by i.id
  on conflict (id) do nothing
  returning id
), used as (${insertingIdempotencyUses(USES_OF_MADE_ATTEMPTS)}
)
select id from made`;

const INSERT = { name: 'attempts_insert_optimistic', text: insertText({ slots: false }) };
const INSERT_WITH_SLOTS = { name: 'attempts_insert_optimistic_with_slots', text: insertText({ slots: true }) };

/**
 * Inserts attempts, and returns the ids of the inserted ones; none if an idempotency key of the
 * batch is already recorded. A batch has at most one attempt per (challenge, account) and per id,
 * because the cap's count does not see the rows that the same statement inserts.
 */
export async function insertOptimisticAttempts(
  database: Database,
  decided: readonly OptimisticAttempt[],
  /** `now` is the instant at which the attempts were decided. */
  { now, ...options }: Pick<BatchOptions, 'beforeCommit'> & { readonly now: Date },
): Promise<ReadonlySet<string>> {
  const attempts = decided.map(({ attempt }) => attempt);
  const values = [
    attempts.map((attempt) => attempt.id),
    attempts.map((attempt) => attempt.challengeId),
    attempts.map((attempt) => attempt.accountId),
    attempts.map((attempt) => attempt.playerRef),
    attempts.map((attempt) => attempt.feeCents),
    attempts.map((attempt) => attempt.prizeCents),
    attempts.map((attempt) => attempt.threshold),
    attempts.map((attempt) => attempt.metadata),
    windowStart(now),
    now,
    ...idempotencyUseColumns(decided.map(({ idempotencyUse }) => idempotencyUse)),
    decided.map(({ challengeVersion }) => challengeVersion),
  ];
  const ramping = decided.flatMap(({ attempt, needsSlot }) => (needsSlot ? attempt.challengeId : []));
  if (ramping.length === 0) {
    return insertAfterLocks(database, [lockOfPlayers(attempts), { statement: INSERT, values }], options);
  }
  const insert = { statement: INSERT_WITH_SLOTS, values: [...values, placesIn(attempts)] };
  const slots = takingSlots(attempts.map((attempt) => attempt.id));
  return insertAfterLocks(database, [lockOfPlayers(attempts, ramping), insert, slots], options);
}

/**
 * Returns the place of each attempt among the batch's attempts of the same challenge, from 1. An
 * earlier attempt counts even if it is not written. An attempt that exceeds the limit only for that
 * reason is decided again under the lock.
 */
function placesIn(attempts: readonly Attempt[]): readonly number[] {
  const places = new Map<string, number>();
  return attempts.map(({ challengeId }) => {
    const place = (places.get(challengeId) ?? 0) + 1;
    places.set(challengeId, place);
    return place;
  });
}
