/** A check that the two rows of an id violate (compare-with-wallet.ts). */
export type Finding<Check extends string> = {
  readonly check: Check;
  /** True if the finding is proven already because our row was read before the wallet's row. */
  readonly final: boolean;
};
