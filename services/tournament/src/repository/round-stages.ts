/**
 * Counts the rounds that are over but not ended, as a statement of the stage sampler
 * (libs/postgres).
 */
import { type BoundStatement, EACH_ENVIRONMENT, MAX_COUNTED_ITEMS, MAX_WALKED_ROWS } from '@laurel/postgres';

const ROUNDS = {
  name: 'stage_rounds',
  text: `
select of_status.stage, known.environment, least(count(over.status), ${MAX_COUNTED_ITEMS})::int as items,
  extract(epoch from $1::timestamptz - min(over.closes_at))::float8 as oldest_seconds
from ${EACH_ENVIRONMENT}
cross join (values ('open', 'round_closing'), ('settling', 'round_settling'), ('cancelling', 'round_cancelling'))
  of_status (status, stage)
left join (
  select status, environment, closes_at from rounds
  where status in ('open', 'settling', 'cancelling') and (status <> 'open' or closes_at <= $1::timestamptz)
  order by closes_at limit ${MAX_WALKED_ROWS}
) over on over.status = of_status.status and over.environment = known.environment
group by of_status.stage, known.environment`,
};

/**
 * `round_closing`: the end of the round is not decided. `round_settling`, `round_cancelling`: that
 * end is under way. Ages count from when the round was over.
 */
export const ROUND_STAGES: BoundStatement = { statement: ROUNDS };
