/** A finding of the comparison of two rows of one id: see compare-with-wallet.ts. */
export type Finding<Check extends string> = {
  readonly check: Check;
  /** True where reading our row before the wallet's already proves the finding. */
  readonly final: boolean;
};
