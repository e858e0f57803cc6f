/** The rounds that are over and not ended, as a statement of the stage sampler (libs/postgres). */
import { type BoundStatement, MAX_COUNTED } from '@laurel/postgres';

const ROUNDS = {
  name: 'stage_rounds',
  text: `
select known.stage, count(over.status)::int as items, extract(epoch from $1::timestamptz - min(over.closes_at))::float8 as oldest_seconds
from (values ('open', 'round_closing'), ('settling', 'round_settling'), ('cancelling', 'round_cancelling')) known (status, stage)
left join (
  select status, closes_at from rounds
  where status in ('open', 'settling', 'cancelling') and (status <> 'open' or closes_at <= $1::timestamptz)
  order by closes_at limit ${MAX_COUNTED}
) over on over.status = known.status
group by known.stage`,
};

/** `round_closing`: over, and its entries are still open; `round_settling` and `round_cancelling`. All since the round was over. */
export const ROUND_STAGES: BoundStatement = { statement: ROUNDS };
