/** An account's deposits by reference, and its transfers in order. */

import type { Database, Statement, Transaction } from '@laurel/postgres';
import { type Cents, cents } from '@laurel/values/money';
import type { TransferKind } from '../domain/ledger.ts';

const loadDepositStatement: Statement = {
  name: 'load_deposit',
  text: `
    select amount_cents, attempt_id from transfers
    where kind = 'deposit' and player_ledger_id = $1 and reference = $2`,
};

export type StoredDeposit = { readonly amountCents: Cents; readonly attemptId: string | null };

/** The deposit under the reference; null for none. */
export async function loadDeposit(tx: Transaction, ledgerId: string, reference: string): Promise<StoredDeposit | null> {
  const [row] = await tx.query<{ amount_cents: bigint; attempt_id: string | null }>(loadDepositStatement, [
    ledgerId,
    reference,
  ]);
  return row === undefined ? null : { amountCents: cents(row.amount_cents), attemptId: row.attempt_id };
}

const loadFeePayerStatement: Statement = {
  name: 'load_fee_payer',
  text: `
    select player_ledger_id from transfers where kind = 'fee' and state = 'posted' and attempt_id = $1`,
};

/** The player's row of the ledger that paid for the attempt; null if none did. */
export async function loadFeePayer(tx: Transaction, attemptId: string): Promise<string | null> {
  const [row] = await tx.query<{ player_ledger_id: string }>(loadFeePayerStatement, [attemptId]);
  return row?.player_ledger_id ?? null;
}

export const loadGoodwillStatement: Statement = {
  name: 'load_goodwill',
  text: `
    select amount_cents, reference, created_at from transfers
    where kind = 'deposit' and attempt_id = $1
    order by seq
    limit $2`,
};

export type Goodwill = { readonly amountCents: Cents; readonly reference: string; readonly createdAt: Date };

/** The deposits that compensate for the attempt, oldest first. */
export async function loadGoodwill(database: Database, attemptId: string, limit: number): Promise<readonly Goodwill[]> {
  const rows = await database.query<{ amount_cents: bigint; reference: string; created_at: Date }>(
    loadGoodwillStatement,
    [attemptId, limit],
  );
  return rows.map((row) => ({
    amountCents: cents(row.amount_cents),
    reference: row.reference,
    createdAt: row.created_at,
  }));
}

export type StatementLine = {
  readonly id: string;
  readonly seq: bigint;
  readonly kind: TransferKind;
  readonly amountCents: Cents;
  readonly balanceAfterCents: Cents;
  /** The deposit's reference, the award, or else the attempt. */
  readonly reference: string;
  /** The attempt that a deposit compensates for; null otherwise. */
  readonly attemptId: string | null;
  readonly createdAt: Date;
};

const loadStatementStatement: Statement = {
  name: 'load_statement',
  // One statement reads one snapshot, so the balance and the newest line always agree.
  text: `
    select player.balance_cents, line.id, line.seq, line.kind, line.amount_cents, line.player_balance_after_cents,
      coalesce(line.reference, line.award_id::text, line.attempt_id::text) as reference, line.created_at,
      case line.kind when 'deposit' then line.attempt_id end as attempt_id
    from ledger_accounts as player
    left join lateral (
      select * from transfers
      where state = 'posted' and player_ledger_id = player.id and seq < $2
      order by seq desc
      limit $3
    ) as line on true
    where player.id = $1
    order by line.seq desc`,
};

type StatementRow = {
  balance_cents: bigint;
  id: string | null;
  seq: bigint;
  kind: TransferKind;
  amount_cents: bigint;
  player_balance_after_cents: bigint;
  reference: string;
  attempt_id: string | null;
  created_at: Date;
};

/**
 * The current balance, and the transfers before a position in the statement, newest first. A player
 * without a row has a balance of zero.
 */
export async function loadStatement(
  database: Database,
  ledgerId: string,
  page: { beforeSeq: bigint; limit: number },
): Promise<{ balanceCents: Cents; lines: readonly StatementLine[] }> {
  const rows = await database.query<StatementRow>(loadStatementStatement, [ledgerId, page.beforeSeq, page.limit]);
  return {
    balanceCents: cents(rows[0]?.balance_cents ?? 0n),
    lines: rows.flatMap((row) => (row.id === null ? [] : [lineOf({ ...row, id: row.id })])),
  };
}

function lineOf(row: StatementRow & { id: string }): StatementLine {
  return {
    id: row.id,
    seq: row.seq,
    kind: row.kind,
    amountCents: cents(row.amount_cents),
    balanceAfterCents: cents(row.player_balance_after_cents),
    reference: row.reference,
    attemptId: row.attempt_id,
    createdAt: row.created_at,
  };
}
