/**
 * What the client needs of `fetch`. The global one of every runtime fits, undici's too, and a
 * function of five lines in a test.
 */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Does not follow a redirect, which would take the API key elsewhere. */
  readonly redirect: 'manual';
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}
