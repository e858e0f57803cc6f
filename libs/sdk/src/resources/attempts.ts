import type { ApiPromise } from '../api-promise.ts';
import type { Attempt, AttemptRequest, Outcome, OutcomeRequest } from '../api-types.ts';
import { checkIdempotencyKey, checkPlayerBody, outcomeKeyOf, pathSegment } from '../arguments.ts';
import type { CallOptions, KeyedCallOptions, Send } from '../send.ts';

const CREATE = { method: 'POST', template: '/v1/attempts', repetition: 'harmless' } as const;
const REPORT = { method: 'POST', template: '/v1/attempts/{attempt_id}/outcome', repetition: 'harmless' } as const;
const RETRIEVE = { method: 'GET', template: '/v1/attempts/{attempt_id}', repetition: 'harmless' } as const;

export class Attempts {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Creates an attempt and charges its fee, once for each idempotency key, however often the call
   * is repeated within 24 hours. Later the same key charges again. The caller chooses the key: one
   * made inside the call would be lost with the process, and the caller could not find out whether
   * the player was charged.
   */
  create(body: AttemptRequest, options: KeyedCallOptions): ApiPromise<Attempt> {
    return this.#send(CREATE, () => ({
      path: '/v1/attempts',
      body: checkPlayerBody(body),
      idempotencyKey: checkIdempotencyKey(options?.idempotencyKey),
      options,
    }));
  }

  /**
   * Reports the measured score; only Laurel decides whether it won. The default idempotency key
   * derives from the attempt's id. After a restart, send the same body again: you get the same
   * outcome. A different body gets `idempotency_key_reused`. After 24 hours either body gets
   * `attempt_already_settled`; `retrieve` returns the outcome.
   */
  reportOutcome(
    attemptId: string,
    body: OutcomeRequest,
    options?: CallOptions & Partial<KeyedCallOptions>,
  ): ApiPromise<Outcome> {
    return this.#send(REPORT, () => ({
      path: `${pathOf(attemptId)}/outcome`,
      body,
      idempotencyKey:
        options?.idempotencyKey === undefined ? outcomeKeyOf(attemptId) : checkIdempotencyKey(options.idempotencyKey),
      options,
    }));
  }

  /** The current attempt, with its outcome once there is one. */
  retrieve(attemptId: string, options?: CallOptions): ApiPromise<Attempt> {
    return this.#send(RETRIEVE, () => ({ path: pathOf(attemptId), options }));
  }
}

/** The path has the id in lower case, like the outcome's key: one attempt, one path. */
function pathOf(attemptId: string): string {
  return `/v1/attempts/${pathSegment('attemptId', attemptId).toLowerCase()}`;
}
