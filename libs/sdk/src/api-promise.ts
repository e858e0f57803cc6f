/** A body, and the facts that the headers of its answer state. */
export interface ApiAnswer<Body> {
  readonly data: Body;
  /** Laurel's name of the request: quote it to support. */
  readonly requestId: string | undefined;
  /** Whether this is the stored answer of an earlier request with this idempotency key: nothing ran again. */
  readonly replayed: boolean;
  /** Requests that a minute has, and those that were left in it; undefined where the answer did not say. */
  readonly rateLimit: { readonly limit: number; readonly remaining: number } | undefined;
  /** How many requests were sent until this answer: 1 without a repetition. */
  readonly tries: number;
}

/**
 * A call under way: a promise of its body, and with `.withResponse()` of the body with the facts of its answer. The call is sent once, however often
 * either is awaited; and only what is awaited can end as an unhandled rejection.
 */
export class ApiPromise<Body> extends Promise<Body> {
  readonly #answer: Promise<ApiAnswer<Body>>;

  /** What `then` and its kin return is an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(answer: Promise<ApiAnswer<Body>>) {
    // Its own state is never looked at, because `then` below is all that a caller or `await` reads.
    super(() => {});
    this.#answer = answer;
  }

  /** `{data, requestId, replayed, rateLimit, tries}`. */
  withResponse(): Promise<ApiAnswer<Body>> {
    return this.#answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise whose value is a part of another promise's.
  override then<Result = Body, Failure = never>(
    onFulfilled?: ((body: Body) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#answer.then(({ data }) => data).then(onFulfilled, onRejected);
  }
}
