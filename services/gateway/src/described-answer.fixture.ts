/**
 * The responses of a gateway in its tests, each checked against the documents of `/v1` and of the
 * routes under `/api`.
 */
import { openDocuments } from '@laurel/testing/contract';

export interface DescribedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined for a response without a body. */
  readonly body: ReturnType<typeof JSON.parse>;
  readonly code: string | undefined;
}

/**
 * Sends a request with `fetch`, reads the whole response and checks it. The path begins after the
 * gateway's origin.
 */
export async function fetchDescribed(port: number, path: string, init: RequestInit): Promise<DescribedAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  const text = await response.text();
  const { status, headers } = response;
  return { ...expectDescribed(init.method ?? 'GET', path, { status, headers, text }), headers };
}

/** Fails if no document describes the response: its status, its code, its headers and its body. */
export function expectDescribed(
  method: string,
  path: string,
  { status, headers, text }: Pick<DescribedAnswer, 'status' | 'headers' | 'text'>,
): Omit<DescribedAnswer, 'headers'> {
  const body = text === '' ? undefined : JSON.parse(text);
  // The rate limiter's `error` is a sentence, and the retired route's body has no `error` object.
  const code = typeof body?.error === 'object' ? body.error.code : body?.code;
  openDocuments().check({
    method,
    path,
    answer: { status, headers: Object.fromEntries(headers), text, body, code },
  });
  return { status, text, body, code };
}
