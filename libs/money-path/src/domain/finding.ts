/** What the comparison of two rows of one id found: see compare-with-wallet.ts. */
export type Finding<Check extends string> = {
  readonly check: Check;
  /** Our row was read before the wallet's, and that already proves it. */
  readonly final: boolean;
};
