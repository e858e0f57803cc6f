/**
 * Finds the candidates of FindOpenAttempts (libs/attempts/src/steps/find-open-attempts.ts). A
 * player takes two index look-ups: one by the account, and one for the free attempts that the ref
 * created before it had an account. A disqualified attempt is not a candidate, because it accepts
 * no score.
 */
import {
  type CandidateRow,
  candidatesByPlayer,
  MAX_OPEN_CANDIDATES,
  type OpenCandidate,
  type PlayerOfContest,
} from '@laurel/attempts';
import type { Queryable } from '@laurel/postgres';

/** Exported because a test reads its query plan. */
export const OPEN_CANDIDATES = `
select i.position::int, a.*
from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as i (challenge_id, account_id, player_ref, position)
cross join lateral (
  (
    select a.id, a.status, a.fee_generation, a.created_at from attempts a
    where a.challenge_id = i.challenge_id and a.account_id = i.account_id and a.created_at > $4
      and a.status in ('open', 'pending') and a.disqualified_at is null
    order by a.created_at, a.id limit ${MAX_OPEN_CANDIDATES}
  )
  union all
  (
    select a.id, a.status, a.fee_generation, a.created_at from attempts a
    where a.challenge_id = i.challenge_id and a.account_id is null and a.player_ref = i.player_ref and a.created_at > $4
      and a.status in ('open', 'pending') and a.disqualified_at is null
    order by a.created_at, a.id limit ${MAX_OPEN_CANDIDATES}
  )
) a
order by i.position, a.created_at, a.id`;

const SELECT_CANDIDATES = { name: 'attempts_open_candidates', text: OPEN_CANDIDATES };

/**
 * Loads, for each player in order, the candidates that were created after this instant, oldest
 * first.
 */
export async function loadOpenCandidates(
  on: Queryable,
  players: readonly PlayerOfContest[],
  after: Date,
): Promise<readonly (readonly OpenCandidate[])[]> {
  const rows = await on.query<CandidateRow>(SELECT_CANDIDATES, [
    players.map(({ contestId }) => contestId),
    players.map(({ accountId }) => accountId),
    players.map(({ playerRef }) => playerRef),
    after,
  ]);
  return candidatesByPlayer(rows, players);
}
