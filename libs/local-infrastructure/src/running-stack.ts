/** Lets programs on this machine find and call a stack that `npm start` or `npm run dev` runs. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Thrown to end a program with one sentence. */
export class StackFailure extends Error {}

/** The members that every ready.json has. */
interface Ready {
  readonly base_url: string;
  readonly operator_token: string;
}

export type RunningStack<Known> = Ready & Known & { readonly origin: string };

export type Json = Record<string, unknown>;

export interface StackCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Record<string, string>;
  /** JSON, or its text if the exact bytes matter. */
  readonly body?: object | string;
  /** The status of the response; any other is a failure. */
  readonly expect: number;
}

/** `text` is the response's text and `body` its parsed form; a response without a body is `{}`. */
export interface Answer {
  readonly text: string;
  readonly body: Json;
}

/** `fetch`, or a wrapper that also shows what it sends. */
export type Send = (
  url: string,
  request: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly signal: AbortSignal;
    readonly redirect: 'manual';
  },
) => Promise<{ readonly status: number; text(): Promise<string> }>;

const TIMEOUT_MS = 60_000;

/**
 * The stack whose ready.json is in LAUREL_DATA_DIR, once it has responded. `Known` describes
 * further members that the caller expects in that file.
 */
export async function findRunningStack<Known = object>(): Promise<RunningStack<Known>> {
  const ready = readReady() as Ready & Known;
  const { origin } = new URL(ready.base_url);
  const answer = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  if (answer?.ok) return { ...ready, origin };
  throw new StackFailure(`The stack is not running at ${origin}: run \`npm start\` in another terminal and try again.`);
}

function readReady(): unknown {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const file = resolve(root, process.env.LAUREL_DATA_DIR ?? '.laurel', 'ready.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new StackFailure(
      `The stack is not running (no ${file}): run \`npm start\` in another terminal and try again.`,
    );
  }
  try {
    const ready: Partial<Ready> | null = JSON.parse(text);
    if (typeof ready?.base_url === 'string') return ready;
  } catch {
    // The text is not JSON, so it is damaged, as below.
  }
  throw new StackFailure(`${file} is damaged: stop the stack, run \`npm start\` again and try again.`);
}

/** Sends one call and compares the status of its response with the expected one. */
export async function callStack(origin: string, call: StackCall, send: Send = fetch): Promise<Answer> {
  const { method, path, headers = {}, body, expect } = call;
  const { status, text } = await send(origin + path, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'manual',
  }).then(
    async (answer) => ({ status: answer.status, text: await answer.text() }),
    (error: unknown) => {
      throw new StackFailure(`The stack did not answer ${method} ${path} (${(error as Error).message}).`);
    },
  );
  if (status !== expect) {
    // A successful response may contain a key, so only failures are quoted.
    const quoted = status >= 400 ? `: ${text}` : '';
    throw new StackFailure(`${method} ${path} must answer ${expect}, not ${status}${quoted}`);
  }
  return { text, body: text === '' ? {} : (JSON.parse(text) as Json) };
}

export type Operator = (call: Omit<StackCall, 'headers'>) => Promise<Json>;

/** Calls the stack as its operator; resolves with the response's body. */
export function createOperator(stack: { origin: string; operator_token: string }, send?: Send): Operator {
  const headers = { authorization: `Bearer ${stack.operator_token}` };
  return async (call) => (await callStack(stack.origin, { ...call, headers }, send)).body;
}
