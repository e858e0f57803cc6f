/**
 * Programs that an operator severed from an account. A pair of program and account has a row from
 * its first link on, and each link refers to that row as not severed. Severing changes the key that
 * links refer to. So it waits for a link that is about to commit, removes it with the others, and
 * makes every later insert fail.
 */
import type { Database, Statement, Transaction } from '@laurel/postgres';

/** A program and an account that the program has linked at some time. */
export type LinkedPair = { readonly programId: string; readonly accountId: string };

export type Severance = { readonly programId: string; readonly severedAt: Date };

const lockPairStatement: Statement = {
  name: 'lock_pair',
  text: 'select 1 from program_accounts where program_id = $1 and account_id = $2 for update',
};

/**
 * Waits for links of the pair that are about to commit, and makes new ones wait; false if the pair
 * was never linked.
 */
export async function lockPair(tx: Transaction, { programId, accountId }: LinkedPair): Promise<boolean> {
  return (await tx.query(lockPairStatement, [programId, accountId])).length > 0;
}

const deleteLinksStatement: Statement = {
  name: 'delete_links',
  text: 'delete from player_links where account_id = $2 and program_id = $1 returning 1',
};

const severStatement: Statement = {
  name: 'sever',
  text: `
    update program_accounts set severed = true, severed_at = coalesce(severed_at, $3)
    where program_id = $1 and account_id = $2`,
};

/**
 * Removes the links of a locked pair, in test and live, and marks the pair as severed; returns the
 * number of links.
 */
export async function severPair(tx: Transaction, { programId, accountId }: LinkedPair, now: Date): Promise<number> {
  const removed = await tx.query(deleteLinksStatement, [programId, accountId]);
  await tx.query(severStatement, [programId, accountId, now]);
  return removed.length;
}

const liftStatement: Statement = {
  name: 'lift_severance',
  text: `
    update program_accounts set severed = false, severed_at = null
    where program_id = $1 and account_id = $2
    returning 1`,
};

/** Permits links of the program and the account again; false if they were never linked. */
export async function permitPair(database: Database, { programId, accountId }: LinkedPair): Promise<boolean> {
  return (await database.query(liftStatement, [programId, accountId])).length > 0;
}

const listSeverancesStatement: Statement = {
  name: 'list_severances',
  text: `
    select program_id, severed_at from program_accounts
    where account_id = $1 and severed
    order by severed_at, program_id`,
};

export async function listSeverances(database: Database, accountId: string): Promise<readonly Severance[]> {
  const rows = await database.query<{ program_id: string; severed_at: Date }>(listSeverancesStatement, [accountId]);
  return rows.map((row) => ({ programId: row.program_id, severedAt: row.severed_at }));
}

const listProgramIdsStatement: Statement = {
  name: 'list_programs_of_account',
  text: 'select program_id from program_accounts where account_id = $1 order by program_id',
};

/** Every program that has ever linked the account. */
export async function listProgramIds(database: Database, accountId: string): Promise<readonly string[]> {
  const rows = await database.query<{ program_id: string }>(listProgramIdsStatement, [accountId]);
  return rows.map((row) => row.program_id);
}
