/** A body, and the facts in the headers of its response. */
export interface ApiAnswer<Body> {
  readonly data: Body;
  /** Laurel's id of the request: quote it to support. */
  readonly requestId: string | undefined;
  /**
   * Whether this is the stored response to an earlier request with this idempotency key: nothing
   * ran again.
   */
  readonly replayed: boolean;
  /** How many requests a minute allows, and how many were left; undefined without the headers. */
  readonly rateLimit: { readonly limit: number; readonly remaining: number } | undefined;
  /** The number of requests that this response took: 1 without a repetition. */
  readonly tries: number;
}

/**
 * A call under way: a promise of its body. `.withResponse()` gives the body with the facts of its
 * response. The call is sent once, however often either promise is awaited. A failure has to be
 * handled only on the promise that is awaited: the other one is never reported as an unhandled
 * rejection.
 */
export class ApiPromise<Body> extends Promise<Body> {
  readonly #answer: Promise<ApiAnswer<Body>>;

  /** `then`, `catch` and `finally` return ordinary promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(answer: Promise<ApiAnswer<Body>>) {
    // Nothing looks at this promise's own state: callers and `await` read only `then` below.
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
