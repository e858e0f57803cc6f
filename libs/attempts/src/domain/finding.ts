/** What the comparison of the two rows of an id found: see compare-with-wallet.ts. */
export type Finding<Check extends string> = {
  readonly check: Check;
  /** True if the order of the reads (our row before the wallet's) already proves the finding. */
  readonly final: boolean;
};
