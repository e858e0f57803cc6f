import type { TestPlayer } from './wallet.ts';

/** How a contest service under test creates attempts. */
export type ContestAttempts<Attempt> = {
  /** `again` creates one more attempt of the same player, with this id if one is given. */
  openAttempt(): Promise<{
    readonly attempt: Attempt;
    readonly player: TestPlayer;
    again(attemptId?: string): Promise<Attempt>;
  }>;
  /**
   * Returns an attempt whose fee the wallet never received. The player also has an open attempt.
   * `again` repeats the creation of the pending attempt.
   */
  pendingAttempt(): Promise<{
    readonly attemptId: string;
    readonly player: TestPlayer;
    again(attemptId?: string): Promise<Attempt>;
  }>;
};
