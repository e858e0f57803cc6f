/**
 * The seal of a tournament round: a signed statement that binds the root of a Merkle tree to its
 * size and its round. The tree has one leaf for each scored attempt. With a receipt, its leaf, a
 * proof and the statement, anyone can check without Laurel that the receipt was counted, with which
 * rank and which payout (libs/sdk/src/receipts/round-seal.ts). The contract defines field names and
 * formats.
 */

/** Marks a signed document as a seal, so that no other document is accepted as one. */
export const ROUND_SEAL_KIND = 'laurel.round_seal';

export type SealStatement = {
  readonly kind: typeof ROUND_SEAL_KIND;
  readonly version: number;
  readonly round_id: string;
  readonly round_number: number;
  readonly tournament_id: string;
  readonly program_id: string;
  readonly environment: string;
  readonly threshold_direction: string;
  readonly tiebreak_direction: string | null;
  readonly purse_amount: string;
  readonly entrant_count: number;
  readonly scored_players: number;
  /** The size of the tree. */
  readonly leaves: number;
  /** The root is in hexadecimal. */
  readonly root: string;
  readonly closes_at: string;
  readonly settled_at: string;
  /**
   * The id of the key that signed the statement (key-id.ts). A seal that was signed before keys had
   * ids lacks this member.
   */
  readonly key_id?: string;
};

export type SealLeaf = {
  readonly round_id: string;
  readonly attempt_id: string;
  readonly receipt_id: string;
  /** Hexadecimal, over the receipt's canonical JSON in UTF-8. */
  readonly receipt_sha256: string;
  readonly player_ref: string;
  readonly score: number;
  readonly tiebreak: number | null;
  readonly recorded_at: string;
  /**
   * Whether this run gave its player the rank; the player's other runs carry the same rank and
   * payout.
   */
  readonly best: boolean;
  readonly final_rank: number;
  readonly payout_amount: string;
};

/**
 * The seal that accompanies a receipt once its round is settled. Keys and signatures are base64,
 * hashes hexadecimal.
 */
export type SealProof = {
  readonly statement: SealStatement;
  readonly signature: string;
  readonly public_key: string;
  readonly leaf: SealLeaf;
  readonly leaf_index: number;
  readonly proof: readonly string[];
};
