/** The accounts that operators list. */
import type { Database } from '@laurel/postgres';
import type { ACCOUNT_FLAGS } from '@laurel/proto/enum-names';
import { type Account, type AccountRow, accountOf } from './accounts.ts';
import type { PlayerName } from './player-links.ts';

/** Which accounts to list; a filter that is null allows any. */
export type AccountFilter = {
  /** An e-mail address, in lower case. */
  readonly email: string | null;
  readonly player: PlayerName | null;
  readonly flag: keyof typeof ACCOUNT_FLAGS | null;
  /** The program whose sandbox accounts are listed. */
  readonly sandboxOf: string | null;
};

/**
 * Makes PostgreSQL plan each statement for its values until the transaction ends. Otherwise a
 * session plans a statement once for all values.
 */
const PLAN_FOR_VALUES = {
  name: 'plan_for_values',
  text: `select set_config('plan_cache_mode', 'force_custom_plan', true)`,
};

/**
 * Run this statement with PLAN_FOR_VALUES: the plan then leaves out each filter that is null, and
 * uses an index for each of the others. One e-mail may have an account in each house. Exported
 * because a test reads its query plans.
 */
export const LIST_ACCOUNTS = {
  text: `
select a.* from accounts a
where a.id < $1
  and ($2::text is null or (a.email = $2 and a.house_id = any(array(select h.id from houses h))))
  and ($3::uuid is null or a.id = (
    select l.account_id from player_links l
    where l.program_id = $3 and l.environment = $4 and l.player_ref = $5))
  and ($6::text is null
    or ($6 = 'enforcement_flag' and a.enforcement_flag)
    or ($6 = 'under_investigation' and a.under_investigation)
    or ($6 = 'blocked' and a.blocked)
    or ($6 = 'self_excluded' and a.self_excluded_until > $7::timestamptz))
  and ($8::uuid is null or a.house_id = $8)
order by a.id desc limit $9`,
};

/** The accounts with ids below `beforeId`, newest first: ids sort by time. */
export async function listAccounts(
  database: Database,
  { email, player, flag, sandboxOf }: AccountFilter,
  { now, beforeId, limit }: { readonly now: Date; readonly beforeId: string; readonly limit: number },
): Promise<readonly Account[]> {
  const values = [
    beforeId,
    email,
    player?.programId ?? null,
    player?.environment ?? null,
    player?.playerRef ?? null,
    flag,
    now,
    sandboxOf,
    limit,
  ];
  const [, rows] = await database.batch<[unknown, AccountRow]>([
    { statement: PLAN_FOR_VALUES },
    { statement: LIST_ACCOUNTS, values },
  ]);
  return rows.map(accountOf);
}
