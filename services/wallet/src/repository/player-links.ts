/** Which account a partner's player_ref names, and that person's standing. */
import type { Database, Statement, Transaction } from '@laurel/postgres';
import type { Environment } from '../domain/ledger.ts';
import type { Standing } from '../domain/standing.ts';

/** A player as the partner names them. */
export type PlayerName = { readonly programId: string; readonly environment: Environment; readonly playerRef: string };

export type PlayerLink = { readonly accountId: string; readonly createdAt: Date };

type LinkRow = { account_id: string; created_at: Date };

const putLinkStatement: Statement = {
  name: 'put_link',
  text: `
    insert into player_links (program_id, environment, player_ref, account_id, created_at) values ($1, $2, $3, $4, $5)
    on conflict (program_id, environment, player_ref) do update set account_id = excluded.account_id
    returning account_id, created_at`,
};

/** Links the ref, or moves it; the answer carries the instant of the first link. */
export async function putLink(
  database: Database,
  player: PlayerName,
  accountId: string,
  now: Date,
): Promise<PlayerLink> {
  const [row] = await database.query<LinkRow>(putLinkStatement, [
    player.programId,
    player.environment,
    player.playerRef,
    accountId,
    now,
  ]);
  if (row === undefined) throw new Error('an upsert answered no row');
  return { accountId: row.account_id, createdAt: row.created_at };
}

const insertLinkStatement: Statement = {
  name: 'insert_link',
  text: `
    insert into player_links (program_id, environment, player_ref, account_id, created_at) values ($1, $2, $3, $4, $5)`,
};

/** Links a ref that must be free; another writer that was faster shows as a unique violation of player_links_pkey. */
export async function insertLink(tx: Transaction, player: PlayerName, accountId: string, now: Date): Promise<void> {
  await tx.query(insertLinkStatement, [player.programId, player.environment, player.playerRef, accountId, now]);
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

/** One account id a player, in order; null for a ref that names none. */
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

const loadStandingStatement: Statement = {
  name: 'load_standing',
  text: `
    select accounts.id as account_id, accounts.date_of_birth, accounts.jurisdiction, accounts.verification_level,
      accounts.self_excluded_until, accounts.blocked, insiders.account_id is not null as insider
    from player_links
    join accounts on accounts.id = player_links.account_id
    left join insiders on insiders.program_id = player_links.program_id and insiders.account_id = player_links.account_id
    where player_links.program_id = $1 and player_links.environment = $2 and player_links.player_ref = $3`,
};

type StandingRow = {
  account_id: string;
  date_of_birth: string;
  jurisdiction: string;
  verification_level: number;
  self_excluded_until: Date | null;
  blocked: boolean;
  insider: boolean;
};

/** The person behind a ref; null for a ref that names none. */
export async function loadStanding(
  database: Database,
  player: PlayerName,
): Promise<{ accountId: string; standing: Standing } | null> {
  const [row] = await database.query<StandingRow>(loadStandingStatement, [
    player.programId,
    player.environment,
    player.playerRef,
  ]);
  if (row === undefined) return null;
  return {
    accountId: row.account_id,
    standing: {
      dateOfBirth: row.date_of_birth,
      jurisdiction: row.jurisdiction,
      verificationLevel: row.verification_level,
      selfExcludedUntil: row.self_excluded_until,
      blocked: row.blocked,
      insider: row.insider,
    },
  };
}
