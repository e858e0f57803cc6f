/** A check that the two rows of an id violate (compare-with-wallet.ts). */
export type Finding<Check extends string> = {
  readonly check: Check;
  /**
   * True if the order of the reads alone proves the finding: our row was read before the wallet's.
   */
  readonly final: boolean;
};
