import type { ApiPromise } from '../api-promise.ts';
import type { Leaderboard, MaskedLeaderboard } from '../api-types.ts';
import { pathSegment, query } from '../arguments.ts';
import type { CallOptions, Send } from '../send.ts';

export interface LeaderboardQuery {
  /**
   * The player for whom the board is made. The board is masked without a player, and for a player
   * who has not entered.
   */
  readonly player_ref?: string | undefined;
}

const LEADERBOARD = {
  method: 'GET',
  template: '/v1/tournaments/rounds/{round_id}/leaderboard',
  repetition: 'harmless',
} as const;

export class Rounds {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * The board of a round: complete for a player who has entered, else masked. `'data' in board`
   * distinguishes them.
   */
  leaderboard(
    roundId: string,
    parameters?: LeaderboardQuery,
    options?: CallOptions,
  ): ApiPromise<Leaderboard | MaskedLeaderboard> {
    return this.#send(LEADERBOARD, () => ({
      path: `/v1/tournaments/rounds/${pathSegment('roundId', roundId)}/leaderboard${query(parameters)}`,
      options,
    }));
  }
}
