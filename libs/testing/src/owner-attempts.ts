import type { TestPlayer } from './wallet.ts';

/** How a contest service under test creates attempts. */
export type OwnerAttempts<Attempt> = {
  /** `again` creates one more attempt of that player, with the id if one is given. */
  openAttempt(): Promise<{
    readonly attempt: Attempt;
    readonly player: TestPlayer;
    again(attemptId?: string): Promise<Attempt>;
  }>;
  /**
   * The wallet never received this attempt's fee. The player has another attempt, which is open.
   * `again` creates the pending one again.
   */
  pendingAttempt(): Promise<{
    readonly attemptId: string;
    readonly player: TestPlayer;
    again(attemptId?: string): Promise<Attempt>;
  }>;
};
