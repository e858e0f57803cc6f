/**
 * The seal of a settled round commits to its complete result. Any player can check offline that the
 * round counted a receipt, with which rank and payout, and that everyone else is shown the same
 * result.
 *
 * - Each scored attempt has a leaf, as canonical JSON. The leaves are ordered by final rank, then
 *   `recorded_at`, then attempt id. A leaf names its receipt by the SHA-256 of the signed canonical
 *   JSON, and has the final rank and payout of its entry. `best` marks the run that won them, so
 *   the payouts of the `best` leaves add up to the money paid.
 * - The root is the root of the Merkle tree over the leaves (RFC 6962,
 *   libs/signature/src/merkle.ts).
 * - The statement binds root, number of leaves and round together, and is signed like a receipt.
 *
 * The formats are in libs/signature/src/round-seal.ts, and libs/sdk/src/receipts/ verifies them.
 */

import { canonicalJson, ROUND_SEAL_KIND, type SealLeaf, type SealStatement } from '@laurel/signature';
import { type Cents, formatAmount } from '@laurel/values/money';
import { purseAmount } from './purse.ts';
import type { Outcome, Round, RoundTerms, Tally, Tiebreak } from './tournament.ts';

/** The version is incremented when a field changes its meaning, not when a field is added. */
const SEAL_VERSION = 1;

export type CountedOutcome = {
  readonly roundId: string;
  readonly outcome: Outcome;
  readonly playerRef: string;
  /**
   * The hash of the signed canonical JSON in UTF-8, as hexadecimal. A round has many receipts, and
   * a receipt may be long.
   */
  readonly receiptSha256: string;
  /** Whether the run is the best of its entry. */
  readonly isBest: boolean;
  /** The final rank of the entry. */
  readonly finalRank: number;
  readonly payoutCents: Cents;
};

/** What a statement says about the round; all of it is frozen. */
export type SealedRound = Pick<Round, 'id' | 'number' | 'tournamentId' | 'tenant' | 'closesAt'> & {
  readonly terms: Pick<RoundTerms, 'direction' | 'purse'> & {
    readonly tiebreak: Pick<Tiebreak, 'direction'> | null;
  };
};

/** A leaf of the tree, as canonical JSON. */
export function composeSealLeaf(counted: CountedOutcome): string {
  const { outcome } = counted;
  const leaf: SealLeaf = {
    round_id: counted.roundId,
    attempt_id: outcome.attemptId,
    receipt_id: outcome.receiptId,
    receipt_sha256: counted.receiptSha256,
    player_ref: counted.playerRef,
    score: outcome.score,
    tiebreak: outcome.tiebreak,
    recorded_at: outcome.recordedAt.toISOString(),
    best: counted.isBest,
    final_rank: counted.finalRank,
    payout_amount: formatAmount(counted.payoutCents),
  };
  return canonicalJson(leaf);
}

/**
 * The text to sign. Throws if the leaves are not exactly the scored attempts that decided the
 * round.
 */
export function composeSealStatement(facts: {
  readonly round: SealedRound;
  readonly tally: Tally;
  readonly leaves: number;
  readonly root: Buffer;
  readonly settledAt: Date;
}): SealStatement {
  const { round, tally } = facts;
  if (facts.leaves !== tally.scoredAttempts) {
    throw new Error(`round ${round.id} has ${tally.scoredAttempts} scored attempts and ${facts.leaves} leaves`);
  }
  return {
    kind: ROUND_SEAL_KIND,
    version: SEAL_VERSION,
    round_id: round.id,
    round_number: round.number,
    tournament_id: round.tournamentId,
    program_id: round.tenant.programId,
    environment: round.tenant.environment,
    threshold_direction: round.terms.direction,
    tiebreak_direction: round.terms.tiebreak?.direction ?? null,
    purse_amount: formatAmount(purseAmount(round.terms.purse)),
    entrant_count: tally.entrants,
    scored_players: tally.scoredPlayers,
    leaves: facts.leaves,
    root: facts.root.toString('hex'),
    closes_at: round.closesAt.toISOString(),
    settled_at: facts.settledAt.toISOString(),
  };
}
