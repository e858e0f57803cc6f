/**
 * The log of a program's sandbox, as its developer reads it; `consumed-events.ts` appends to it.
 */
import type { Queryable } from '@laurel/postgres';
import type { LogPage } from '../domain/sandbox-log.ts';

type Row = {
  last_position: bigint;
  position: bigint | null;
  event_id: string;
  event_type: string;
  body: Buffer;
  created_at: Date;
};

// One statement reads the last position and the rows, so both come from one snapshot.
const SELECT_PAGE = {
  name: 'sandbox_events_page',
  text: `
select l.last_position, e.position, e.event_id, e.event_type, e.body, e.created_at
from (select coalesce((select last_position from sandbox_logs where program_id = $1), 0) as last_position) l
left join lateral (
  select * from sandbox_events where program_id = $1 and position > $2 order by position limit $3
) e on true
order by e.position`,
};

/** Up to `limit` events after the position, and the position of the newest event ever. */
export async function loadSandboxPage(
  on: Queryable,
  programId: string,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<LogPage> {
  const rows = await on.query<Row>(SELECT_PAGE, [programId, after, limit]);
  return {
    lastPosition: rows[0]?.last_position ?? 0n,
    events: rows.flatMap(({ position, event_id: id, event_type: type, body, created_at: createdAt }) =>
      position === null ? [] : [{ position, id, type, body, createdAt }],
    ),
  };
}
