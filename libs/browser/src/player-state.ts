import type { Attempt } from './player-shapes.ts';

/** What to play for: a challenge with a fixed prize, or a round of a tournament. */
export type Target = { readonly challengeId: string } | { readonly roundId: string };

/** The state of the player's paid attempt in this tab. */
export type PlayerState =
  | { readonly status: 'idle' }
  /** A target is chosen and nothing is sent: `begin` pays. */
  | { readonly status: 'armed'; readonly target: Target }
  /** `begin` is on its way. */
  | { readonly status: 'paying'; readonly target: Target }
  /**
   * The payment was sent and its result is unknown: `begin` asks again, and never charges twice.
   */
  | { readonly status: 'unconfirmed'; readonly target: Target }
  | { readonly status: 'open'; readonly target: Target; readonly attemptId: string }
  | { readonly status: 'ended'; readonly target: Target; readonly attempt: Attempt };
