/**
 * The part of `fetch` that the client needs. The global `fetch` of every runtime has this type, and
 * undici's too; a test can write one in five lines.
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
