import type { ApiPromise } from '../api-promise.ts';
import type { PlayerLink, PlayerLinkRequest } from '../api-types.ts';
import { checkPlayerBody } from '../arguments.ts';
import type { CallOptions, Send } from '../send.ts';

/** Needs no key: making a link twice makes the same link. */
const LINK = { method: 'POST', template: '/v1/players', repetition: 'harmless' } as const;

export class Players {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Links the partner's own identifier of a player to the account with this e-mail; `not_found`
   * without one.
   */
  link(body: PlayerLinkRequest, options?: CallOptions): ApiPromise<PlayerLink> {
    return this.#send(LINK, () => ({ path: '/v1/players', body: checkPlayerBody(body), options }));
  }
}
