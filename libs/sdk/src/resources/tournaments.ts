import type { ApiPromise } from '../api-promise.ts';
import type { TournamentList } from '../api-types.ts';
import { query } from '../arguments.ts';
import type { CallOptions, Send } from '../send.ts';

export interface ListTournamentsQuery {
  /** Absent: only active tournaments. `all`: also paused and closed ones. */
  readonly status?: 'all' | undefined;
}

const LIST = { method: 'GET', template: '/v1/tournaments', repetition: 'harmless' } as const;

export class Tournaments {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** The tournaments with their current rounds, the same for every player. */
  list(parameters?: ListTournamentsQuery, options?: CallOptions): ApiPromise<TournamentList> {
    return this.#send(LIST, () => ({ path: `/v1/tournaments${query(parameters)}`, options }));
  }
}
