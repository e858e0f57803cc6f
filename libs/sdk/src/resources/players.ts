import type { ApiPromise } from '../api-promise.ts';
import type { PlayerLink, PlayerLinkRequest } from '../api-types.ts';
import { ofPlayer } from '../arguments.ts';
import type { CallOptions, Send } from '../send.ts';

/** Without a key: a link that is made twice is the same link. */
const LINK = { method: 'POST', template: '/v1/players', repetition: 'harmless' } as const;

export class Players {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Links the partner's own identifier of a player to the account that has this e-mail; `not_found` where none has. */
  link(body: PlayerLinkRequest, options?: CallOptions): ApiPromise<PlayerLink> {
    return this.#send(LINK, () => ({ path: '/v1/players', body: ofPlayer(body), options }));
  }
}
