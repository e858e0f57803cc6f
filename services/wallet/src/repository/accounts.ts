/**
 * People and the sandbox accounts of programs: their details, and the facts that decide their
 * eligibility.
 */

import type { Database, Statement, Transaction } from '@laurel/postgres';
import { type Cents, cents } from '@laurel/values/money';

export type Account = {
  readonly id: string;
  readonly email: string;
  /** `YYYY-MM-DD`. */
  readonly dateOfBirth: string;
  readonly jurisdiction: string;
  readonly verificationLevel: number;
  readonly selfExcludedUntil: Date | null;
  readonly enforcementFlag: boolean;
  readonly underInvestigation: boolean;
  readonly blocked: boolean;
  /** LIVE_HOUSE for a person; else the program to whose sandbox the account belongs. */
  readonly houseId: string;
  readonly createdAt: Date;
  /**
   * The most that one program may charge the account in 24 hours; if null, only the program's limit
   * applies.
   */
  readonly feeLimitCents: Cents | null;
};

export type AccountRow = {
  id: string;
  email: string;
  date_of_birth: string;
  jurisdiction: string;
  verification_level: number;
  self_excluded_until: Date | null;
  enforcement_flag: boolean;
  under_investigation: boolean;
  blocked: boolean;
  house_id: string;
  created_at: Date;
  fee_limit_cents: bigint | null;
};

export function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    email: row.email,
    dateOfBirth: row.date_of_birth,
    jurisdiction: row.jurisdiction,
    verificationLevel: row.verification_level,
    selfExcludedUntil: row.self_excluded_until,
    enforcementFlag: row.enforcement_flag,
    underInvestigation: row.under_investigation,
    blocked: row.blocked,
    houseId: row.house_id,
    createdAt: row.created_at,
    feeLimitCents: row.fee_limit_cents === null ? null : cents(row.fee_limit_cents),
  };
}

const insertAccountStatement: Statement = {
  name: 'insert_account',
  text: `
    insert into accounts (id, email, date_of_birth, jurisdiction, verification_level, house_id, created_at)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (house_id, email) do nothing
    returning *`,
};

/**
 * Returns the new account, or null if another account of the house has the e-mail address. The
 * house must exist.
 */
export async function insertAccount(
  connection: Database | Transaction,
  account: Pick<
    Account,
    'id' | 'email' | 'dateOfBirth' | 'jurisdiction' | 'verificationLevel' | 'houseId' | 'createdAt'
  >,
): Promise<Account | null> {
  const [row] = await connection.query<AccountRow>(insertAccountStatement, [
    account.id,
    account.email,
    account.dateOfBirth,
    account.jurisdiction,
    account.verificationLevel,
    account.houseId,
    account.createdAt,
  ]);
  return row === undefined ? null : accountOf(row);
}

/** The fields to change; absent ones stay. */
export type AccountChange = {
  /**
   * In lower case. If another account of the house has this address, the update fails with a unique
   * violation of accounts_house_email_key.
   */
  readonly email?: string | undefined;
  readonly dateOfBirth?: string | undefined;
  readonly selfExcludedUntil: Date | undefined;
  readonly clearSelfExclusion: boolean;
  readonly enforcementFlag: boolean | undefined;
  readonly underInvestigation: boolean | undefined;
  readonly blocked: boolean | undefined;
  readonly jurisdiction: string | undefined;
  readonly verificationLevel: number | undefined;
  /** Null removes the limit. */
  readonly feeLimitCents?: Cents | null | undefined;
};

const updateAccountStatement: Statement = {
  name: 'update_account',
  text: `
    update accounts set
      self_excluded_until = case when $3 then null else coalesce($2, self_excluded_until) end,
      enforcement_flag = coalesce($4, enforcement_flag),
      under_investigation = coalesce($5, under_investigation),
      blocked = coalesce($6, blocked),
      jurisdiction = coalesce($7, jurisdiction),
      verification_level = coalesce($8, verification_level),
      email = coalesce($9, email),
      date_of_birth = coalesce($10, date_of_birth),
      fee_limit_cents = case when $12 then $11 else fee_limit_cents end
    where id = $1
    returning *`,
};

/** Returns the changed account, or null if there is none. */
export async function updateAccount(
  connection: Database | Transaction,
  id: string,
  change: AccountChange,
): Promise<Account | null> {
  const [row] = await connection.query<AccountRow>(updateAccountStatement, [
    id,
    change.selfExcludedUntil ?? null,
    change.clearSelfExclusion,
    change.enforcementFlag ?? null,
    change.underInvestigation ?? null,
    change.blocked ?? null,
    change.jurisdiction ?? null,
    change.verificationLevel ?? null,
    change.email ?? null,
    change.dateOfBirth ?? null,
    change.feeLimitCents ?? null,
    change.feeLimitCents !== undefined,
  ]);
  return row === undefined ? null : accountOf(row);
}

const loadAccountStatement: Statement = { name: 'load_account', text: 'select * from accounts where id = $1' };

export async function loadAccount(database: Database, id: string): Promise<Account | null> {
  const [row] = await database.query<AccountRow>(loadAccountStatement, [id]);
  return row === undefined ? null : accountOf(row);
}

const loadAccountByEmailStatement: Statement = {
  name: 'load_account_by_email',
  text: 'select * from accounts where house_id = $1 and email = $2',
};

/** The account of the house with this e-mail address, which is in lower case. */
export async function loadAccountByEmail(database: Database, houseId: string, email: string): Promise<Account | null> {
  const [row] = await database.query<AccountRow>(loadAccountByEmailStatement, [houseId, email]);
  return row === undefined ? null : accountOf(row);
}

const insertInsiderStatement: Statement = {
  name: 'insert_insider',
  text: `
    insert into insiders (program_id, account_id, created_at) values ($1, $2, $3)
    on conflict (program_id, account_id) do nothing`,
};

const listInsidersStatement: Statement = {
  name: 'list_insiders',
  text: `
    select insiders.account_id as "accountId", accounts.email, insiders.created_at as "createdAt"
    from insiders
    join accounts on accounts.id = insiders.account_id
    where insiders.program_id = $1 and ($2::uuid is null or insiders.account_id < $2)
    order by insiders.account_id desc limit $3`,
};

/**
 * The insiders of a program, newest account first, below `beforeAccountId`; null for the first
 * page.
 */
export async function listInsiders(
  database: Database,
  page: { readonly programId: string; readonly beforeAccountId: string | null; readonly limit: number },
): Promise<{ readonly accountId: string; readonly email: string; readonly createdAt: Date }[]> {
  return database.query(listInsidersStatement, [page.programId, page.beforeAccountId, page.limit]);
}

const deleteInsiderStatement: Statement = {
  name: 'delete_insider',
  text: 'delete from insiders where program_id = $1 and account_id = $2 returning account_id',
};

/** Whether the account was an insider of the program. */
export async function deleteInsider(
  database: Database,
  insider: { readonly programId: string; readonly accountId: string },
): Promise<boolean> {
  const rows = await database.query(deleteInsiderStatement, [insider.programId, insider.accountId]);
  return rows.length === 1;
}

export async function insertInsider(
  database: Database,
  insider: { programId: string; accountId: string; createdAt: Date },
): Promise<void> {
  await database.query(insertInsiderStatement, [insider.programId, insider.accountId, insider.createdAt]);
}
