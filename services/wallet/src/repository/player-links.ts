/**
 * The account that a partner's player_ref names, and that person's eligibility. Foreign keys limit
 * which accounts a ref may name: people in live, the program's sandbox accounts in test, and none
 * that an operator severed from the program.
 */

import { type Database, isForeignKeyViolation, type Statement, type Transaction } from '@laurel/postgres';
import type { Environment } from '@laurel/values/tenant';
import type { ChargedFees } from '../domain/fee-limit.ts';
import { houseOf } from '../domain/ledger.ts';
import type { DefaultLimits } from '../domain/program-limits.ts';
import {
  type ChargedFeesRow,
  feeLimitJoinsSql,
  feeWindowStart,
  toChargedFees,
  unrefundedFeesSql,
} from './charged-fees.ts';
import { type NamedPerson, type NamedPersonRow, toNamedPerson } from './named-person.ts';

/** A player by the partner's identifiers. */
export type PlayerName = { readonly programId: string; readonly environment: Environment; readonly playerRef: string };

export type PlayerLink = { readonly accountId: string; readonly createdAt: Date };

type LinkRow = { account_id: string; created_at: Date };

// Inserts the pair of program and account first, unless it exists; a severed pair accepts no link.
const INSERT_LINK = `
    with pair as (
      insert into program_accounts (program_id, account_id) values ($1, $4) on conflict (program_id, account_id) do nothing
    )
    insert into player_links (program_id, environment, player_ref, account_id, created_at, house_id)
    select $1::uuid, $2::text, $3::text, $4::uuid, $5::timestamptz, $6::uuid
    where not exists (select 1 from program_accounts where program_id = $1 and account_id = $4 and severed)`;

const putLinkStatement: Statement = {
  name: 'put_link',
  text: `
    ${INSERT_LINK}
    on conflict (program_id, environment, player_ref) do update set account_id = excluded.account_id
    returning account_id, created_at`,
};

/**
 * Links the ref, or moves it; returns the instant of the first link. Null if the account is severed
 * from the program.
 */
export async function putLink(
  database: Database,
  player: PlayerName,
  accountId: string,
  now: Date,
): Promise<PlayerLink | null> {
  try {
    return await writeLink(database, putLinkStatement, player, accountId, now);
  } catch (error) {
    if (isSeveredMeanwhile(error)) return null;
    throw error;
  }
}

const insertLinkStatement: Statement = {
  name: 'insert_link',
  text: `
    ${INSERT_LINK}
    returning account_id, created_at`,
};

/**
 * Links a ref that must be free. If another writer linked it first, fails with a unique violation
 * of player_links_pkey. Null if the account is severed from the program; if an operator severs it
 * meanwhile, fails with an error that isSeveredMeanwhile recognizes.
 */
export function insertLink(
  tx: Transaction,
  player: PlayerName,
  accountId: string,
  now: Date,
): Promise<PlayerLink | null> {
  return writeLink(tx, insertLinkStatement, player, accountId, now);
}

async function writeLink(
  connection: Database | Transaction,
  statement: Statement,
  player: PlayerName,
  accountId: string,
  now: Date,
): Promise<PlayerLink | null> {
  const { programId, environment, playerRef } = player;
  const values = [programId, environment, playerRef, accountId, now, houseOf(player)];
  const [row] = await connection.query<LinkRow>(statement, values);
  return row === undefined ? null : { accountId: row.account_id, createdAt: row.created_at };
}

export function isSeveredMeanwhile(error: unknown): boolean {
  return isForeignKeyViolation(error, 'player_links_pair_is_not_severed');
}

const loadLinkStatement: Statement = {
  name: 'load_link',
  text: `
    select account_id, created_at from player_links
    where program_id = $1 and environment = $2 and player_ref = $3`,
};

export async function loadLink(database: Database, player: PlayerName): Promise<PlayerLink | null> {
  const [row] = await database.query<LinkRow>(loadLinkStatement, [
    player.programId,
    player.environment,
    player.playerRef,
  ]);
  return row === undefined ? null : { accountId: row.account_id, createdAt: row.created_at };
}

const resolvePlayersStatement: Statement = {
  name: 'resolve_players',
  text: `
    select link.account_id
    from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality
      as player (program_id, environment, player_ref, position)
    left join lateral (
      select player_links.account_id from player_links
      where player_links.program_id = player.program_id and player_links.environment = player.environment
        and player_links.player_ref = player.player_ref limit 1
    ) as link on true
    order by player.position`,
};

/** One account id per player, in order; null for a ref without an account. */
export async function resolvePlayers(
  database: Database,
  players: readonly PlayerName[],
): Promise<readonly (string | null)[]> {
  const rows = await database.query<{ account_id: string | null }>(resolvePlayersStatement, [
    players.map((player) => player.programId),
    players.map((player) => player.environment),
    players.map((player) => player.playerRef),
  ]);
  return rows.map((row) => row.account_id);
}

const loadEligibilityStatement: Statement = {
  name: 'load_eligibility',
  text: `
    select accounts.id as account_id, accounts.date_of_birth, accounts.jurisdiction, accounts.verification_level,
      accounts.self_excluded_until, accounts.blocked, insiders.account_id is not null as insider,
      allowed.limit_cents, charged.charged_cents
    from player_links
    join accounts on accounts.id = player_links.account_id
    left join insiders on insiders.program_id = player_links.program_id and insiders.account_id = player_links.account_id
    cross join lateral (select accounts.fee_limit_cents) as person
    left join lateral (
      select ledger_accounts.id from ledger_accounts
      where ledger_accounts.account_id = player_links.account_id and ledger_accounts.environment = player_links.environment limit 1
    ) as ledger on true
    ${feeLimitJoinsSql({ programId: 'player_links.program_id', environment: 'player_links.environment', defaultCents: '$4' })}
    cross join lateral (
      ${unrefundedFeesSql({ ledgerId: 'ledger.id', programId: 'player_links.program_id', since: '$5::timestamptz' })}
    ) as charged
    where player_links.program_id = $1 and player_links.environment = $2 and player_links.player_ref = $3`,
};

/** The person that a ref names, and what the program charged the account; null for none. */
export async function loadEligibility(
  database: Database,
  player: PlayerName,
  { now, defaults }: { readonly now: Date; readonly defaults: DefaultLimits },
): Promise<(NamedPerson & { readonly charged: ChargedFees }) | null> {
  const [row] = await database.query<NamedPersonRow & ChargedFeesRow>(loadEligibilityStatement, [
    player.programId,
    player.environment,
    player.playerRef,
    defaults.feeCents,
    feeWindowStart(now),
  ]);
  return row === undefined ? null : { ...toNamedPerson(row), charged: toChargedFees(row) };
}

/** A ref that names an account, and the instant from which it does. */
export type NamedLink = PlayerName & { readonly createdAt: Date };

const listLinksStatement: Statement = {
  name: 'list_links',
  text: `
    select program_id, environment, player_ref, created_at from player_links
    where account_id = $1
    order by created_at, program_id, environment, player_ref
    limit $2`,
};

/** Every link of an account, oldest first. */
export async function listLinks(database: Database, accountId: string, limit: number): Promise<readonly NamedLink[]> {
  const rows = await database.query<{
    program_id: string;
    environment: Environment;
    player_ref: string;
    created_at: Date;
  }>(listLinksStatement, [accountId, limit]);
  return rows.map((row) => ({
    programId: row.program_id,
    environment: row.environment,
    playerRef: row.player_ref,
    createdAt: row.created_at,
  }));
}
