/** Seals: the leaves of a settled round in their order, and the tree over them. */

import type { Queryable, Transaction } from '@laurel/postgres';
import { BLOCK_LEAVES } from '@laurel/signature';
import { cents } from '@laurel/values/money';
import type { CountedOutcome } from '../domain/seal.ts';
import { toOutcome } from './outcomes.ts';

/**
 * A leaf and its position in the order: the sort key of its entry, and how many leaves of the entry
 * precede it.
 */
export type OrderedLeaf = { readonly counted: CountedOutcome; readonly sortKey: Buffer; readonly leavesBefore: number };

/** The signed root of a round. */
export type Seal = {
  readonly roundId: string;
  readonly leaves: number;
  readonly root: Buffer;
  /** The canonical JSON that was signed. */
  readonly statement: string;
  readonly signature: Buffer;
  readonly createdAt: Date;
};

/** The root of one block, and the position of its first leaf. */
export type SealBlock = {
  readonly position: number;
  readonly root: Buffer;
  readonly firstSortKey: Buffer;
  readonly leavesBefore: number;
};

/** What a proof needs besides the leaves of the block. */
export type StoredSeal = Seal & { readonly publicKey: Buffer; readonly blockRoots: readonly Buffer[] };

type LeafRow = {
  sort_key: Buffer;
  leaves_before: number;
  round_id: string;
  attempt_id: string;
  receipt_id: string;
  score: number;
  tiebreak: number | null;
  recorded_at: Date;
  receipt_sha256: string;
  player_ref: string;
  is_best: boolean;
  final_rank: number;
  payout_cents: bigint;
};

// Entries in the order of their sort keys, which is the order of their ranks; the leaves of an
// entry by instant, then attempt id.
const SELECT_LEAVES = {
  text: `
select e.sort_key, e.round_id, e.final_rank, e.payout_cents, e.best_attempt_id = a.id as is_best, a.player_ref,
  o.attempt_id, o.receipt_id, o.score, o.tiebreak, o.recorded_at,
  encode(sha256(convert_to(o.receipt, 'UTF8')), 'hex') as receipt_sha256,
  (row_number() over (partition by e.sort_key order by o.recorded_at, o.attempt_id) - 1)::int as leaves_before
from (select * from entries p where p.round_id = $1 and p.sort_key >= $2 order by p.sort_key limit $3) e
join attempts a on a.round_id = e.round_id and a.account_id = e.account_id and a.status = 'settled'
join outcomes o on o.attempt_id = a.id
order by e.sort_key, o.recorded_at, o.attempt_id`,
};

// The statement does all or nothing: a round is settled if and only if each of its payouts is
// decided and it is sealed. It must be `settling`, so it is settled once.
const FINISH = {
  text: `
with settled as (
  update rounds set status = 'settled', settled_at = $2
  where id = $1 and status = 'settling'
    and not exists (select from round_payouts p where p.round_id = $1 and p.status = 'paying')
  returning id
), sealed as (
  insert into seals (round_id, leaves, root, statement, signature, signing_key_id, created_at)
  select id, $3, $4, $5, $6, $7, $2 from settled
  returning round_id
), nodes as (
  insert into seal_nodes (round_id, position, hash, first_sort_key, leaves_before)
  select sealed.round_id, n.*
  from sealed cross join unnest($8::int[], $9::bytea[], $10::bytea[], $11::int[]) as n (position, hash, first_sort_key, leaves_before)
)
select id from settled`,
};

const SELECT_SEAL = {
  text: `
select s.*, k.public_key,
  array(select n.hash from seal_nodes n where n.round_id = s.round_id order by n.position) as block_roots
from seals s join signing_keys k on k.id = s.signing_key_id
where s.round_id = $1`,
};

const SELECT_BLOCK_OF = {
  text: `
select n.position, n.hash, n.first_sort_key, n.leaves_before
from attempts a
join outcomes o on o.attempt_id = a.id
join entries e on e.id = a.entry_id
cross join lateral (
  select * from seal_nodes n
  where n.round_id = a.round_id and (n.first_sort_key, n.leaves_before) <= (
    e.sort_key,
    (select count(*)::int from attempts own join outcomes of_own on of_own.attempt_id = own.id
     where own.round_id = a.round_id and own.account_id = a.account_id
       and (of_own.recorded_at, of_own.attempt_id) < (o.recorded_at, o.attempt_id))
  )
  order by n.first_sort_key desc, n.leaves_before desc limit 1
) n
where a.id = $1`,
};

const FIRST_SORT_KEY = Buffer.alloc(0);
const NEXT = Buffer.of(0);

/**
 * The leaves of a round in the order of its seal. A page has all leaves of this many entries,
 * beginning after the entry at `after`; an empty page is the end. The database hashes the receipts,
 * which may be as long as their evidence.
 */
export async function loadLeaves(
  on: Queryable,
  roundId: string,
  after: Buffer | null,
  entries: number,
): Promise<readonly OrderedLeaf[]> {
  // All sort keys have the same length, so `after` with one more byte sorts between `after` and the
  // next sort key.
  const from = after === null ? FIRST_SORT_KEY : Buffer.concat([after, NEXT]);
  return (await on.query<LeafRow>(SELECT_LEAVES, [roundId, from, entries])).map(toOrderedLeaf);
}

/**
 * Moves the round `settling -> settled` with its seal. False, with nothing written, if a payout is
 * not decided or the round is not `settling`.
 */
export async function finishSettlement(
  tx: Transaction,
  seal: Seal,
  blocks: readonly SealBlock[],
  signingKeyId: number,
): Promise<boolean> {
  const rows = await tx.query(FINISH, [
    seal.roundId,
    seal.createdAt,
    seal.leaves,
    seal.root,
    seal.statement,
    seal.signature,
    signingKeyId,
    blocks.map((block) => block.position),
    blocks.map((block) => block.root),
    blocks.map((block) => block.firstSortKey),
    blocks.map((block) => block.leavesBefore),
  ]);
  return rows.length === 1;
}

export async function findSeal(on: Queryable, roundId: string): Promise<StoredSeal | null> {
  const [row] = await on.query<{
    round_id: string;
    leaves: number;
    root: Buffer;
    statement: string;
    signature: Buffer;
    created_at: Date;
    public_key: Buffer;
    block_roots: Buffer[];
  }>(SELECT_SEAL, [roundId]);
  if (row === undefined) return null;
  return {
    roundId: row.round_id,
    leaves: row.leaves,
    root: row.root,
    statement: row.statement,
    signature: row.signature,
    createdAt: row.created_at,
    publicKey: row.public_key,
    blockRoots: row.block_roots,
  };
}

/**
 * The block of a sealed round that contains the attempt's leaf, with all of its leaves; null if
 * there is none.
 */
export async function loadBlockOf(
  on: Queryable,
  { attemptId, roundId }: { readonly attemptId: string; readonly roundId: string },
): Promise<{ readonly block: SealBlock; readonly leaves: readonly OrderedLeaf[] } | null> {
  const [row] = await on.query<{ position: number; hash: Buffer; first_sort_key: Buffer; leaves_before: number }>(
    SELECT_BLOCK_OF,
    [attemptId],
  );
  if (row === undefined) return null;
  const { position, hash: root, first_sort_key: firstSortKey, leaves_before: leavesBefore } = row;
  // Every entry has at least one leaf, and the first entry's leaves may begin in the previous
  // block.
  const rows = await on.query<LeafRow>(SELECT_LEAVES, [roundId, firstSortKey, BLOCK_LEAVES + 1]);
  const leaves = rows.slice(leavesBefore, leavesBefore + BLOCK_LEAVES).map(toOrderedLeaf);
  return { block: { position, root, firstSortKey, leavesBefore }, leaves };
}

function toOrderedLeaf(row: LeafRow): OrderedLeaf {
  return {
    sortKey: row.sort_key,
    leavesBefore: row.leaves_before,
    counted: {
      roundId: row.round_id,
      outcome: toOutcome(row),
      playerRef: row.player_ref,
      receiptSha256: row.receipt_sha256,
      isBest: row.is_best,
      finalRank: row.final_rank,
      payoutCents: cents(row.payout_cents),
    },
  };
}
