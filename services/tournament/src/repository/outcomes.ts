/** Outcomes and their receipts. */
import type { Queryable } from '@laurel/postgres';
import type { Outcome } from '../domain/tournament.ts';

/** An outcome with what was signed about it. */
export type SignedOutcome = {
  readonly outcome: Outcome;
  readonly receipt: string;
  readonly signature: Buffer;
};

export type Receipt = {
  readonly receipt: string;
  readonly signature: Buffer;
  readonly publicKey: Buffer;
  readonly attemptId: string;
  readonly roundId: string;
};

type OutcomeRow = {
  attempt_id: string;
  receipt_id: string;
  score: number;
  tiebreak: number | null;
  recorded_at: Date;
};

const INSERT = {
  name: 'outcomes_insert',
  text: `
with settled as (update attempts set status = 'settled' where id = any($1::uuid[]))
insert into outcomes (attempt_id, receipt_id, score, tiebreak, recorded_at, receipt, signature, signing_key_id)
select o.*, $8::int
from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::float8[], $5::timestamptz[], $6::text[], $7::bytea[]) as o`,
};

const SELECT_BY_ATTEMPT = {
  name: 'outcome_by_attempt',
  text: `
select attempt_id, receipt_id, score, tiebreak, recorded_at from outcomes where attempt_id = $1`,
};

const SELECT_BY_ATTEMPTS = {
  name: 'outcomes_by_attempts',
  text: `
select attempt_id, receipt_id, score, tiebreak, recorded_at from outcomes where attempt_id = any($1::uuid[])`,
};

const SELECT_ARCHIVED = {
  name: 'archived_outcomes_by_attempts',
  text: `
select id as attempt_id, receipt_id, score, tiebreak, recorded_at
from archived_attempts where id = any($1::uuid[]) and receipt_id is not null`,
};

// A receipt comes with the leaves of other attempts of its round. So it is found until the deletion
// of the round's month begins, not until its own batch is deleted.
const SELECT_RECEIPT = {
  text: `
select o.receipt, o.signature, k.public_key, o.attempt_id, a.round_id
from outcomes o join signing_keys k on k.id = o.signing_key_id join attempts a on a.id = o.attempt_id
join rounds r on r.id = a.round_id
where o.receipt_id = $1
  and not exists (select from archived_months m where r.closes_at >= m.begins_at and r.closes_at < m.ends_at)`,
};

const IS_RECORDED = { text: 'select exists (select from all_outcomes where receipt_id = $1) as is_recorded' };

/**
 * Inserts the outcomes and settles their attempts. The caller holds the locks of lockOnBoards, and
 * sends this together with the commit.
 */
export async function insertOutcomes(
  last: Queryable,
  signed: readonly SignedOutcome[],
  signingKeyId: number,
): Promise<void> {
  if (signed.length === 0) return;
  await last.query(INSERT, [
    signed.map(({ outcome }) => outcome.attemptId),
    signed.map(({ outcome }) => outcome.receiptId),
    signed.map(({ outcome }) => outcome.score),
    signed.map(({ outcome }) => outcome.tiebreak),
    signed.map(({ outcome }) => outcome.recordedAt),
    signed.map(({ receipt }) => receipt),
    signed.map(({ signature }) => signature),
    signingKeyId,
  ]);
}

/** The outcome of a settled attempt, archived or not. */
export async function loadOutcome(on: Queryable, attemptId: string): Promise<Outcome> {
  const [row] = await on.query<OutcomeRow>(SELECT_BY_ATTEMPT, [attemptId]);
  if (row !== undefined) return toOutcome(row);
  const [archived] = await on.query<OutcomeRow>(SELECT_ARCHIVED, [[attemptId]]);
  if (archived === undefined) throw new Error(`attempt ${attemptId} is settled without an outcome`);
  return toOutcome(archived);
}

/** The outcomes of settled attempts, archived or not, in no particular order. */
export async function loadOutcomes(on: Queryable, attemptIds: readonly string[]): Promise<readonly Outcome[]> {
  const rows = await on.query<OutcomeRow>(SELECT_BY_ATTEMPTS, [attemptIds]);
  const found = new Set(rows.map((row) => row.attempt_id));
  const others = attemptIds.filter((id) => !found.has(id));
  const archived = others.length === 0 ? [] : await on.query<OutcomeRow>(SELECT_ARCHIVED, [others]);
  return [...rows, ...archived].map(toOutcome);
}

/** The signed text of a recorded receipt; null if its round is archived. */
export async function loadReceipt(on: Queryable, receiptId: string): Promise<string | null> {
  const found = await findReceipt(on, receiptId);
  if (found !== null) return found.receipt;
  if (await isReceiptRecorded(on, receiptId)) return null;
  throw new Error(`receipt ${receiptId} is not recorded`);
}

/**
 * Whether an outcome has this receipt. If `findReceipt` does not find the receipt, it is in the
 * archive.
 */
export async function isReceiptRecorded(on: Queryable, receiptId: string): Promise<boolean> {
  const [row] = await on.query<{ is_recorded: boolean }>(IS_RECORDED, [receiptId]);
  return row?.is_recorded === true;
}

/** A receipt; null if its round is archived, or if there is none. */
export async function findReceipt(on: Queryable, receiptId: string): Promise<Receipt | null> {
  const [row] = await on.query<{
    receipt: string;
    signature: Buffer;
    public_key: Buffer;
    attempt_id: string;
    round_id: string;
  }>(SELECT_RECEIPT, [receiptId]);
  if (row === undefined) return null;
  const { receipt, signature, public_key: publicKey, attempt_id: attemptId, round_id: roundId } = row;
  return { receipt, signature, publicKey, attemptId, roundId };
}

export function toOutcome(row: OutcomeRow): Outcome {
  return {
    attemptId: row.attempt_id,
    receiptId: row.receipt_id,
    score: row.score,
    tiebreak: row.tiebreak,
    recordedAt: row.recorded_at,
  };
}
