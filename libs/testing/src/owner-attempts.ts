import type { TestPlayer } from './wallet.ts';

/** How an owner of attempts under test makes them. */
export type OwnerAttempts<Attempt> = {
  /** `again` creates one more attempt of that player, with that id where one is given. */
  openAttempt(): Promise<{
    readonly attempt: Attempt;
    readonly player: TestPlayer;
    again(attemptId?: string): Promise<Attempt>;
  }>;
  /** The wallet never received its fee; the player has another attempt, which is open. `again` creates it again. */
  pendingAttempt(): Promise<{
    readonly attemptId: string;
    readonly player: TestPlayer;
    again(attemptId?: string): Promise<Attempt>;
  }>;
};
