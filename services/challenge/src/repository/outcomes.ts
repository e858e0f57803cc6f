/** Outcomes, their receipts, and the samples that a bar is read off. */
import type { Queryable } from '@laurel/postgres';
import type { Outcome } from '../domain/challenge.ts';

/** An outcome with what was signed about it. */
export type SignedOutcome = {
  readonly outcome: Outcome;
  readonly receipt: string;
  readonly signature: Buffer;
};

/** A score that counts for the bar of its challenge. */
export type BarSample = {
  readonly challengeId: string;
  readonly attemptId: string;
  readonly player: string;
  readonly score: number;
};

export type Receipt = { readonly receipt: string; readonly signature: Buffer; readonly publicKey: Buffer };

type OutcomeRow = {
  attempt_id: string;
  receipt_id: string;
  score: number;
  met_threshold: boolean;
  recorded_at: Date;
  threshold: number | null;
};

const INSERT = {
  name: 'outcomes_insert',
  text: `
insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
select o.*, $8::int
from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::bool[], $5::timestamptz[], $6::text[], $7::bytea[]) as o`,
};

const INSERT_SAMPLES = {
  name: 'bar_samples_insert',
  text: `
insert into bar_samples (challenge_id, attempt_id, player, score)
select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[])`,
};

const SELECT_BY_ATTEMPTS = {
  name: 'outcomes_by_attempts',
  text: `
select o.attempt_id, o.receipt_id, o.score, o.met_threshold, o.recorded_at, a.threshold
from outcomes o join attempts a on a.id = o.attempt_id
where o.attempt_id = any($1::uuid[])`,
};

const SELECT_RECEIPT = {
  text: `
select o.receipt, o.signature, k.public_key from outcomes o join signing_keys k on k.id = o.signing_key_id where o.receipt_id = $1`,
};

const PUT_SIGNING_KEY = {
  text: `
with put as (insert into signing_keys (public_key) values ($1) on conflict (public_key) do nothing returning id)
select id from put union all select id from signing_keys where public_key = $1 limit 1`,
};

export async function insertOutcomes(
  on: Queryable,
  signed: readonly SignedOutcome[],
  signingKeyId: number,
): Promise<void> {
  await on.query(INSERT, [
    signed.map(({ outcome }) => outcome.attemptId),
    signed.map(({ outcome }) => outcome.receiptId),
    signed.map(({ outcome }) => outcome.score),
    signed.map(({ outcome }) => outcome.metThreshold),
    signed.map(({ outcome }) => outcome.recordedAt),
    signed.map(({ receipt }) => receipt),
    signed.map(({ signature }) => signature),
    signingKeyId,
  ]);
}

export async function insertBarSamples(on: Queryable, samples: readonly BarSample[]): Promise<void> {
  if (samples.length === 0) return;
  await on.query(INSERT_SAMPLES, [
    samples.map((sample) => sample.challengeId),
    samples.map((sample) => sample.attemptId),
    samples.map((sample) => sample.player),
    samples.map((sample) => sample.score),
  ]);
}

export async function loadOutcomes(
  on: Queryable,
  attemptIds: readonly string[],
): Promise<ReadonlyMap<string, Outcome>> {
  if (attemptIds.length === 0) return new Map();
  const rows = await on.query<OutcomeRow>(SELECT_BY_ATTEMPTS, [attemptIds]);
  return new Map(rows.map((row) => [row.attempt_id, toOutcome(row)]));
}

export async function findReceipt(on: Queryable, receiptId: string): Promise<Receipt | null> {
  const [row] = await on.query<{ receipt: string; signature: Buffer; public_key: Buffer }>(SELECT_RECEIPT, [receiptId]);
  return row === undefined ? null : { receipt: row.receipt, signature: row.signature, publicKey: row.public_key };
}

/** The id of the key; two processes that start together agree on it. */
export async function putSigningKey(on: Queryable, publicKey: Buffer): Promise<number> {
  const [row] = await on.query<{ id: number }>(PUT_SIGNING_KEY, [publicKey]);
  if (row !== undefined) return row.id;
  // Another process inserted it after this statement's snapshot was taken; the next one sees it.
  return putSigningKey(on, publicKey);
}

function toOutcome(row: OutcomeRow): Outcome {
  return {
    attemptId: row.attempt_id,
    receiptId: row.receipt_id,
    score: row.score,
    metThreshold: row.met_threshold,
    thresholdApplied: row.threshold,
    recordedAt: row.recorded_at,
  };
}
