/**
 * The candidates of FindOpenAttempts (libs/attempts/src/steps/find-open-attempts.ts): one index
 * look-up per player.
 */
import {
  type CandidateRow,
  candidatesByPlayer,
  MAX_OPEN_CANDIDATES,
  type OpenCandidate,
  type PlayerOfContest,
} from '@laurel/attempts';
import type { Queryable } from '@laurel/postgres';

const SELECT_CANDIDATES = {
  name: 'attempts_open_candidates',
  text: `
select i.position::int, a.*
from unnest($1::uuid[], $2::uuid[]) with ordinality as i (round_id, account_id, position)
cross join lateral (
    select a.id, a.status, a.fee_generation, a.created_at from attempts a
    where a.round_id = i.round_id and a.account_id = i.account_id and a.created_at > $3
      and a.status in ('open', 'pending')
    order by a.created_at, a.id limit ${MAX_OPEN_CANDIDATES}
) a
order by i.position, a.created_at, a.id`,
};

/** The attempts of each player, in order, that were created after this instant, oldest first. */
export async function loadOpenCandidates(
  on: Queryable,
  players: readonly PlayerOfContest[],
  after: Date,
): Promise<readonly (readonly OpenCandidate[])[]> {
  const rows = await on.query<CandidateRow>(SELECT_CANDIDATES, [
    players.map(({ contestId }) => contestId),
    players.map(({ accountId }) => accountId),
    after,
  ]);
  return candidatesByPlayer(rows, players);
}
