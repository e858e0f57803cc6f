/**
 * Paid attempts from a page, through the partner's own server (`createPlayerHandler` of
 * `@laurel/sdk`). Nothing here can send a score.
 */
import { PlayerClient } from './player-client.ts';

export { type ConflictCode, LaurelBrowserError, type LaurelBrowserErrorCode, type LibraryErrorCode } from './errors.ts';
export type { PlayerClient } from './player-client.ts';
export type { Attempt, Challenge, Leaderboard, LeaderboardRow, Round } from './player-shapes.ts';
export type { PlayerState, Target } from './player-state.ts';
export type { InitOptions } from './transport.ts';

/** The page's one client: a page has one player. */
export const laurel: PlayerClient = new PlayerClient();
