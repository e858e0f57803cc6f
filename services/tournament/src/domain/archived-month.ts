/**
 * What the files of an archived month must agree about. It reads each once, in its order, and keeps
 * tournaments, keys, and the ranks and leaves of one round.
 *
 * - Each round ended in the month, and is settled or cancelled. It has its tally, and the entries,
 *   refs, attempts and outcomes that this counts.
 * - The best run of an entry is the best of its own, and gives it its sort key.
 * - A settled round has ranks in the order of the sort keys, the payout of each rank by its purse,
 *   and a seal: its statement is signed, and is what the round and the leaves give again.
 * - A cancelled round has no ranks, payouts or seal.
 */
import {
  type ArchivedRow,
  type ArchivedRowsOf,
  bytesOf,
  expectEnd,
  type RowWalk,
  type SignatureVerifier,
  type Total,
  Totals,
  verifyOutcome,
  walkRows,
} from '@laurel/attempts/domain';
import { canonicalJson, createMerkleTree } from '@laurel/signature';
import { isBefore } from '@laurel/values/instant';
import {
  type ArchivedEntry,
  type ArchivedLeaf,
  instantOf,
  leavesOf,
  numberOrNull,
  takeEntry,
  toSealedRound,
} from './archived-round.ts';
import { sortKeyOf } from './board-sort-key.ts';
import { awardIdOfRank, payoutOfRank, payoutsOf } from './purse.ts';
import { compareRuns } from './ranking.ts';
import { composeSealStatement, type SealedRound } from './seal.ts';
import type { Run, Tally } from './tournament.ts';

/** The files that follow the order of the rounds. */
const FILES = [
  'round_tallies',
  'round_cancellations',
  'entries',
  'entry_refs',
  'attempts',
  'outcomes',
  'round_payouts',
  'award_reviews',
  'seals',
  'seal_nodes',
] as const;
type Files = Readonly<Record<(typeof FILES)[number], RowWalk>>;

interface Month {
  readonly from: Date;
  /** The first instant after the month. */
  readonly until: Date;
}

/** An entry with a rank. */
interface Ranked {
  readonly entryId: unknown;
  readonly accountId: unknown;
  readonly sortKey: string;
  readonly leaves: readonly ArchivedLeaf[];
}

/** Adds up the month. Throws at the first contradiction. */
export async function inspectMonth(
  month: Month,
  rows: ArchivedRowsOf,
  signatures: SignatureVerifier,
): Promise<readonly Total[]> {
  for await (const key of rows('signing_keys')) signatures.put(key);
  const tenants = new Map<unknown, string>();
  for await (const row of rows('tournaments')) tenants.set(row.id, `${row.program_id} ${row.environment}`);

  const totals = new Totals();
  await using held = new AsyncDisposableStack();
  const files = Object.fromEntries(FILES.map((table) => [table, held.use(walkRows(rows(table)))])) as Files;
  for await (const row of rows('rounds')) {
    if (tenants.get(row.tournament_id) !== `${row.program_id} ${row.environment}`) {
      throw new Error(`the tournament of round ${row.id} is not in the archive`);
    }
    await inspectRound(row, { month, files, signatures, totals });
  }
  for (const table of FILES) await expectEnd(table, files[table]);
  return totals.list();
}

type Inspection = {
  readonly month: Month;
  readonly files: Files;
  readonly signatures: SignatureVerifier;
  readonly totals: Totals;
};

async function inspectRound(row: ArchivedRow, inspection: Inspection): Promise<void> {
  const { month, files, signatures, totals } = inspection;
  const round = toSealedRound(row);
  const isOfRound = (other: ArchivedRow) => other.round_id === round.id;
  const isSettled = row.status === 'settled';
  if (!isSettled && row.status !== 'cancelled') throw new Error(`the round ${round.id} is ${row.status}`);
  if (isBefore(round.closesAt, month.from) || !isBefore(round.closesAt, month.until)) {
    throw new Error(`the round ${round.id} did not end in the month`);
  }
  const purse = (row.purse_cents as readonly number[]).reduce((sum, amount) => sum + amount, 0);
  totals.add('rounds', { environment: round.tenant.environment, status: row.status, cents: purse });

  const tally = await files.round_tallies.takeIf(isOfRound);
  if (tally === null) throw new Error(`the round ${round.id} has no tally`);
  const cancellation = await files.round_cancellations.takeIf(isOfRound);
  if (cancellation !== null && isSettled) throw new Error(`the round ${round.id} was cancelled, and is settled`);

  const counted = await inspectEntries(round, isSettled, inspection);
  for (const [column, count] of [
    ['scored_players', counted.players],
    ['scored_attempts', counted.attempts],
  ] as const) {
    if (tally[column] !== count) throw new Error(`the round ${round.id} has ${count} ${column}, not ${tally[column]}`);
  }
  for (;;) {
    const ref = await files.entry_refs.takeIf(isOfRound);
    if (ref === null) break;
    if (!counted.accounts.has(ref.account_id)) {
      throw new Error(`the ref ${ref.player_ref} of round ${round.id} has no entry`);
    }
  }
  if (!isSettled) return;
  verifyRanks(round, counted.ranked, counted.players);
  await inspectPayouts(round, counted.ranked, inspection);
  const seal = await files.seals.takeIf(isOfRound);
  if (seal === null) throw new Error(`the round ${round.id} is settled without a seal`);
  if (!signatures.isGenuine(seal, 'statement'))
    throw new Error(`the seal of round ${round.id} was not signed as it is`);
  await verifySeal({ round, row, seal, tally: toTally(tally), ranked: counted.ranked, nodes: files.seal_nodes });
}

async function inspectEntries(round: SealedRound, isSettled: boolean, { files, signatures, totals }: Inspection) {
  const accounts = new Set<unknown>();
  const ranked: Ranked[] = [];
  let players = 0;
  let attempts = 0;
  for (;;) {
    const found = await takeEntry(round.id, files);
    if (found === null) return { accounts, ranked, players, attempts };
    const { entry, runs } = found;
    accounts.add(entry.account_id);
    for (const { attempt, outcome } of runs) {
      if (attempt.entry_id !== entry.id) throw new Error(`the attempt ${attempt.id} is of another entry`);
      const { environment } = round.tenant;
      totals.add('attempts', { environment, status: attempt.status, cents: attempt.fee_cents });
      verifyOutcome(attempt, outcome, signatures);
      if (outcome === null) continue;
      const { tournament_round_id: roundId } = JSON.parse(String(outcome.receipt)) as ArchivedRow;
      if (roundId !== round.id) throw new Error(`the receipt ${outcome.receipt_id} is of another round`);
      attempts += 1;
    }
    verifyBestRun(round, found);
    if (entry.sort_key !== null) players += 1;
    const { final_rank: rank } = entry;
    if ((rank !== null) !== (isSettled && entry.sort_key !== null)) {
      throw new Error(`the entry ${entry.id} has the rank ${rank}`);
    }
    if (rank === null) continue;
    if (BigInt(Number(entry.payout_cents)) !== payoutOfRank(round.terms.purse, Number(rank))) {
      throw new Error(`the entry ${entry.id} has ${entry.payout_cents} cents for rank ${rank}`);
    }
    ranked[Number(rank) - 1] = {
      entryId: entry.id,
      accountId: entry.account_id,
      sortKey: String(entry.sort_key),
      leaves: leavesOf(round.id, found),
    };
  }
}

function verifyBestRun({ terms }: SealedRound, { entry, runs }: ArchivedEntry): void {
  const scored = runs.flatMap(({ outcome }) => (outcome === null ? [] : [outcome]));
  const best = scored.find(({ attempt_id: attemptId }) => attemptId === entry.best_attempt_id);
  if (best === undefined && scored.length === 0 && entry.sort_key === null) return;
  if (best === undefined || scored.some((other) => compareRuns(toRun(best), toRun(other), terms) > 0)) {
    throw new Error(`the best run of entry ${entry.id} is not the best of its own`);
  }
  const sortKey = sortKeyOf({ entryId: String(entry.id), ...toRun(best) }, terms);
  if (entry.sort_key !== `\\x${sortKey.toString('hex')}`) {
    throw new Error(`the sort key of entry ${entry.id} is not that of its best run`);
  }
}

function toRun({ score, tiebreak, recorded_at: at }: ArchivedRow): Run {
  return { score: Number(score), tiebreak: numberOrNull(tiebreak), at: instantOf(at) };
}

function verifyRanks({ id }: SealedRound, ranked: readonly Ranked[], players: number): void {
  if (ranked.length !== players) throw new Error(`the round ${id} has ${ranked.length} ranks for ${players} players`);
  for (let rank = 1; rank <= ranked.length; rank += 1) {
    const [before, one] = [ranked[rank - 2], ranked[rank - 1]];
    if (one === undefined) throw new Error(`no entry has rank ${rank} of round ${id}`);
    if (before !== undefined && before.sortKey >= one.sortKey) {
      throw new Error(`the ranks ${rank - 1} and ${rank} of round ${id} are not in the order of the board`);
    }
  }
}

async function inspectPayouts(round: SealedRound, ranked: readonly Ranked[], inspection: Inspection): Promise<void> {
  const { files, totals } = inspection;
  for (const { rank, amountCents } of payoutsOf(round.terms.purse, ranked.length)) {
    const payout = await files.round_payouts.takeIf((row) => row.round_id === round.id && row.final_rank === rank);
    const owed = ranked[rank - 1];
    const isDue =
      payout !== null &&
      payout.award_id === awardIdOfRank(round.id, rank) &&
      payout.entry_id === owed?.entryId &&
      payout.account_id === owed?.accountId &&
      BigInt(Number(payout.amount_cents)) === amountCents &&
      (payout.status === 'paid' || payout.status === 'denied');
    if (!isDue) throw new Error(`rank ${rank} of round ${round.id} has no payout that follows from it`);
    const { environment } = round.tenant;
    totals.add('round_payouts', { environment, status: payout.status, cents: payout.amount_cents });
    const review = await files.award_reviews.takeIf((row) => row.award_id === payout.award_id);
    if (review !== null && (review.decision === 'denied') !== (payout.status === 'denied')) {
      throw new Error(`the payout ${payout.award_id} is ${payout.status}, and was ${review.decision}`);
    }
  }
}

async function verifySeal(facts: {
  readonly round: SealedRound;
  readonly row: ArchivedRow;
  readonly seal: ArchivedRow;
  readonly tally: Tally;
  readonly ranked: readonly Ranked[];
  readonly nodes: RowWalk;
}): Promise<void> {
  const { round, row, seal, tally, ranked, nodes } = facts;
  const tree = createMerkleTree();
  const verifyNode = async (block: { readonly position: number; readonly root: Buffer } | null): Promise<void> => {
    if (block === null) return;
    const node = await nodes.takeIf(({ round_id: id, position }) => id === round.id && position === block.position);
    if (node === null || !bytesOf(node.hash).equals(block.root)) {
      throw new Error(`block ${block.position} of the seal of round ${round.id} has other leaves`);
    }
  };
  for (const { leaves } of ranked) for (const { text } of leaves) await verifyNode(tree.append(text));
  const { leaves, root, lastBlock } = tree.end();
  await verifyNode(lastBlock);

  const statement = composeSealStatement({ round, tally, leaves, root, settledAt: instantOf(row.settled_at) });
  const { key_id: keyId } = JSON.parse(String(seal.statement)) as { key_id?: string };
  const isSame =
    canonicalJson(keyId === undefined ? statement : { ...statement, key_id: keyId }) === seal.statement &&
    seal.leaves === leaves &&
    bytesOf(seal.root).equals(root);
  if (!isSame) throw new Error(`the seal of round ${round.id} is not that of its leaves`);
}

function toTally(row: ArchivedRow): Tally {
  return {
    entrants: Number(row.entrants),
    scoredPlayers: Number(row.scored_players),
    scoredAttempts: Number(row.scored_attempts),
  };
}
