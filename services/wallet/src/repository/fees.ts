/**
 * Stored fees: the facts that decide a charge, whether a fee was posted, and the posted fee that a
 * refund returns.
 */

import type { Database, Statement, Transaction } from '@laurel/postgres';
import { refundTransferId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';
import type { FeeCharge, FeeFacts, StoredFee } from '../domain/fee-decision.ts';
import type { FeeRefusalCode } from '../domain/ledger.ts';
import { playerLedgerId } from '../domain/ledger.ts';
import type { DefaultLimits } from '../domain/program-limits.ts';
import type { PaidFee } from '../domain/refund-decision.ts';
import {
  type ChargedFeesRow,
  feeLimitJoinsSql,
  feeWindowStart,
  toChargedFees,
  unrefundedFeesSql,
} from './charged-fees.ts';
import { type NamedPersonRow, toNamedPerson } from './named-person.ts';
import { contestServiceDigitsOf, contestServiceDigitsSql, type OwnedPage } from './owned-page.ts';

const loadFeeFactsStatement: Statement = {
  name: 'load_fee_facts',
  text: `
    select
      link.account_id, person.date_of_birth, person.jurisdiction, person.verification_level, person.self_excluded_until,
      person.blocked, insider.account_id is not null as insider,
      fee.state, fee.kind, fee.attempt_id, fee.refusal_code, fee.created_at, allowed.limit_cents, charged.charged_cents
    from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[]) with ordinality
      as charge (program_id, environment, player_ref, transfer_id, ledger_id, position)
    left join lateral (
      select player_links.account_id from player_links
      where player_links.program_id = charge.program_id and player_links.environment = charge.environment
        and player_links.player_ref = charge.player_ref limit 1
    ) as link on true
    left join lateral (
      select * from accounts where accounts.id = link.account_id limit 1
    ) as person on true
    left join lateral (
      select insiders.account_id from insiders
      where insiders.program_id = charge.program_id and insiders.account_id = link.account_id limit 1
    ) as insider on true
    left join lateral (
      select * from transfers where transfers.id = charge.transfer_id limit 1
    ) as fee on true
    ${feeLimitJoinsSql({ programId: 'charge.program_id', environment: 'charge.environment', defaultCents: '$6' })}
    cross join lateral (
      ${unrefundedFeesSql({ ledgerId: 'charge.ledger_id', programId: 'charge.program_id', since: '$7::timestamptz' })}
    ) as charged
    order by charge.position`,
};

type FeeFactsRow = (NamedPersonRow | { account_id: null }) & StoredFeeRow & ChargedFeesRow;

type StoredFeeRow = {
  /**
   * Any state but `posted` is a tombstone. Tombstones from before migration 0012 have a different
   * value from later ones.
   */
  state: string | null;
  kind: string | null;
  attempt_id: string | null;
  refusal_code: FeeRefusalCode | null;
  created_at: Date | null;
};

/** The stored facts about each charge, in order. */
export async function loadFeeFacts(
  tx: Transaction,
  charges: readonly FeeCharge[],
  { now, defaults }: { readonly now: Date; readonly defaults: DefaultLimits },
): Promise<readonly FeeFacts[]> {
  const rows = await tx.query<FeeFactsRow>(loadFeeFactsStatement, [
    charges.map((charge) => charge.programId),
    charges.map((charge) => charge.environment),
    charges.map((charge) => charge.playerRef),
    charges.map((charge) => charge.transferId),
    charges.map(({ accountId, environment }) => (accountId === null ? null : playerLedgerId(accountId, environment))),
    defaults.feeCents,
    feeWindowStart(now),
  ]);
  return rows.map((row) => ({
    stored: storedFee(row),
    charged: toChargedFees(row),
    player: row.account_id === null ? null : toNamedPerson(row),
  }));
}

const loadStoredFeesStatement: Statement = {
  name: 'load_stored_fees',
  text: `
    select fee.state, fee.kind, fee.attempt_id, fee.refusal_code, fee.created_at
    from unnest($1::uuid[]) with ordinality as wanted (id, position)
    left join lateral (
      select * from transfers where transfers.id = wanted.id limit 1
    ) as fee on true
    order by wanted.position`,
};

/** The stored fee of each id, in order; null if the id is free. */
export async function loadStoredFees(
  connection: Database | Transaction,
  transferIds: readonly string[],
): Promise<readonly (StoredFee | null)[]> {
  const rows = await connection.query<StoredFeeRow>(loadStoredFeesStatement, [transferIds]);
  return rows.map(storedFee);
}

function storedFee(row: StoredFeeRow): StoredFee | null {
  if (row.state === null) return null;
  if (row.kind !== 'fee') throw new Error(`a transfer id of a fee belongs to a transfer of kind ${row.kind}`);
  if (row.state !== 'posted') return { state: 'tombstone', refusalCode: row.refusal_code };
  if (row.attempt_id === null || row.created_at === null) throw new Error('a posted fee lacks its attempt');
  return { state: 'posted', attemptId: row.attempt_id, postedAt: row.created_at };
}

const insertTombstonesStatement: Statement = {
  name: 'insert_tombstones',
  // Waits for a charge of the same id that is about to commit, then leaves its row unchanged.
  text: `
    insert into transfers (id, state, kind, created_at)
    select wanted.id, 'tombstone', 'fee', $2::timestamptz from unnest($1::uuid[]) as wanted (id) order by wanted.id
    on conflict (id) do nothing`,
};

/** Writes tombstones under those ids that are free. */
export async function insertTombstones(tx: Transaction, transferIds: readonly string[], now: Date): Promise<void> {
  await tx.query(insertTombstonesStatement, [[...new Set(transferIds)], now]);
}

const loadPaidFeesStatement: Statement = {
  name: 'load_paid_fees',
  text: `
    select fee.player_ledger_id, fee.attempt_id, fee.amount_cents, refund.created_at as refunded_at
    from unnest($1::uuid[], $2::uuid[]) with ordinality as wanted (fee_id, refund_id, position)
    left join lateral (
      select * from transfers where transfers.id = wanted.fee_id and kind = 'fee' and state = 'posted' limit 1
    ) as fee on true
    left join lateral (
      select * from transfers where transfers.id = wanted.refund_id limit 1
    ) as refund on true
    order by wanted.position`,
};

type PaidFeeRow = {
  player_ledger_id: string | null;
  attempt_id: string;
  amount_cents: bigint;
  refunded_at: Date | null;
};

/**
 * The posted fee of each id, in order, or null. A posted fee never changes, so this needs no lock.
 */
export async function loadPaidFees(
  connection: Database | Transaction,
  feeTransferIds: readonly string[],
): Promise<readonly (PaidFee | null)[]> {
  const rows = await connection.query<PaidFeeRow>(loadPaidFeesStatement, [
    feeTransferIds,
    feeTransferIds.map(refundTransferId),
  ]);
  return rows.map((row) =>
    row.player_ledger_id === null
      ? null
      : {
          ledgerId: row.player_ledger_id,
          attemptId: row.attempt_id,
          amountCents: cents(row.amount_cents),
          refundedAt: row.refunded_at,
        },
  );
}

const listFeesStatement: Statement = {
  name: 'list_fees',
  // The index alone yields the page: skipping another service's fees reads none of their rows (0.25
  // s for a million). Each fee is then looked up by its attempt, because a join that was planned
  // for few fees might scan all of them for each attempt.
  text: `
    select fee.attempt_id, fee.amount_cents, player.account_id, refund.id is not null as refunded, fee.environment
    from (
      select attempt_id from transfers
      where kind = 'fee' and state = 'posted' and attempt_id > $1::uuid
        and ($2::text is null or ${contestServiceDigitsSql('attempt_id')} = $2)
      order by attempt_id
      limit $3
    ) as page
    cross join lateral (
      select * from transfers where attempt_id = page.attempt_id and kind = 'fee' and state = 'posted' limit 1
    ) as fee
    join ledger_accounts as player on player.id = fee.player_ledger_id
    left join lateral (
      select id from transfers where kind = 'refund' and fee_transfer_id = fee.id limit 1
    ) as refund on true
    order by fee.attempt_id`,
};

export type FeeRecord = {
  readonly attempt_id: string;
  readonly amount_cents: bigint;
  readonly account_id: string;
  readonly refunded: boolean;
  readonly environment: Environment;
};

/** Posted fees of one contest service's attempts after an attempt id, in attempt id order. */
export function listFees(database: Database, { after, owner, limit }: OwnedPage): Promise<FeeRecord[]> {
  return database.query<FeeRecord>(listFeesStatement, [after, contestServiceDigitsOf(owner), limit]);
}

const findFeeStatement: Statement = {
  name: 'find_fee',
  text: `
    select fee.amount_cents, fee.created_at as charged_at, refund.created_at as refunded_at, refund.reason as refund_reason
    from transfers as fee
    left join lateral (
      select created_at, reason from transfers where kind = 'refund' and fee_transfer_id = fee.id limit 1
    ) as refund on true
    where fee.attempt_id = $1 and fee.kind = 'fee' and fee.state = 'posted'`,
};

type FoundFee = {
  readonly amount_cents: bigint;
  readonly charged_at: Date;
  readonly refunded_at: Date | null;
  readonly refund_reason: string | null;
};

/** The posted fee of the attempt and its refund; null if no fee of it was posted. */
export async function findFee(database: Database, attemptId: string): Promise<FoundFee | null> {
  const [row] = await database.query<FoundFee>(findFeeStatement, [attemptId]);
  return row ?? null;
}
