/** What the client needs of `fetch`: the global one of every runtime fits, undici's, and a function of five lines in a test. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** A redirect is an answer like any other: followed, it would take the API key elsewhere. */
  readonly redirect: 'manual';
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}
