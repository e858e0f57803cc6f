import type { ApiPromise } from '../api-promise.ts';
import type { ChallengeList, DistributionRequest, DistributionResult } from '../api-types.ts';
import { checkIdempotencyKey, pathSegment, query } from '../arguments.ts';
import type { CallOptions, KeyedCallOptions, Send } from '../send.ts';

export interface ListChallengesQuery {
  /** The partner's own identifier of the player, up to 255 characters. It need not be linked. */
  readonly player_ref: string;
  /**
   * Absent: only what `attempts.create` would accept for this player. `all`: every status, with the
   * progress of the calibration.
   */
  readonly status?: 'all' | undefined;
}

const LIST = { method: 'GET', template: '/v1/challenges', repetition: 'harmless' } as const;
const SEED = { method: 'POST', template: '/v1/challenges/{id}/distribution', repetition: 'harmless' } as const;

export class Challenges {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** The challenges that a player may attempt now. */
  list(parameters: ListChallengesQuery, options?: CallOptions): ApiPromise<ChallengeList> {
    return this.#send(LIST, () => ({
      path: `/v1/challenges${query(parameters, { required: ['player_ref'] })}`,
      options,
    }));
  }

  /**
   * Gives a calibrating challenge its bar, from percentiles of the game's past scores; its prize is
   * capped at first.
   */
  seedDistribution(
    challengeId: string,
    body: DistributionRequest,
    options: KeyedCallOptions,
  ): ApiPromise<DistributionResult> {
    return this.#send(SEED, () => ({
      path: `/v1/challenges/${pathSegment('challengeId', challengeId)}/distribution`,
      body,
      idempotencyKey: checkIdempotencyKey(options?.idempotencyKey),
      options,
    }));
  }
}
