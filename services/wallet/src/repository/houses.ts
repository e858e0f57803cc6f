/**
 * The houses that players play with. Live's always exists; a program's in test exists from its
 * first sandbox account on.
 */
import type { Statement, Transaction } from '@laurel/postgres';
import { HOUSE_DIGIT } from '../domain/ledger.ts';

const openHouseStatement: Statement = {
  name: 'open_house',
  // One statement inserts both, so a reader that sees the house sees its accounts. The later of two
  // concurrent inserts may conflict on any of the unique indexes.
  text: `
    with opened as (
      insert into houses (id, environment) values ($1, 'test') on conflict do nothing returning id
    )
    insert into ledger_accounts (id, kind, environment, house_id, may_overdraw)
    select overlay(opened.id::text placing account.digit from 36 for 1)::uuid, account.kind, 'test', opened.id, true
    from opened
    cross join unnest($2::text[], $3::text[]) as account (kind, digit)`,
};

/** Opens a program's house in test, with its four accounts, unless it exists. */
export async function openHouse(tx: Transaction, programId: string): Promise<void> {
  await tx.query(openHouseStatement, [programId, Object.keys(HOUSE_DIGIT), Object.values(HOUSE_DIGIT)]);
}
