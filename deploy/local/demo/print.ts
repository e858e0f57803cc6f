/** Prints the demo: its chapters, and each request with its response as they happen. */
import { STATUS_CODES } from 'node:http';
import { type Json, StackFailure } from '@laurel/local-infrastructure/running-stack';
import type { Fetch, FetchRequest } from '@laurel/sdk';

const SHOWN_REQUEST_HEADERS = ['authorization', 'x-api-key', 'idempotency-key', 'x-service-signature'];
const SHOWN_ANSWER_HEADERS = ['idempotency-replayed', 'x-ratelimit-remaining', 'x-request-id'];
const SECRET_MEMBERS = ['password', 'token'];

/**
 * How much of a call is printed: everything, nothing, or these lines in place of the body of a
 * successful response.
 */
type Shown<Body> = 'everything' | 'nothing' | ((body: Body) => readonly string[]);

let shown: Shown<never> = 'everything';
let isCalling = false;
const heldBack: (() => void)[] = [];

/** A fetch that prints each request, and its response when it arrives. */
export const fetchAndPrint: Fetch = async (url, request) => {
  if (shown === 'nothing') return fetch(url, request);
  isCalling = true;
  try {
    printRequest(url, request);
    const response = await fetch(url, request);
    const text = await response.text();
    printAnswer(response, text);
    return { status: response.status, headers: response.headers, text: async () => text };
  } catch (error) {
    console.log(`← no answer: ${(error as Error).message}`);
    throw error;
  } finally {
    isCalling = false;
    for (const print of heldBack.splice(0)) print();
  }
};

/** Runs `work` and prints only this part of its calls. */
export async function printOnly<Body, Result>(part: Shown<Body>, work: () => PromiseLike<Result>): Promise<Result> {
  shown = part as Shown<never>;
  try {
    return await work();
  } finally {
    shown = 'everything';
  }
}

/** Prints now, or after the call in progress has been printed completely. */
export function printBetweenCalls(print: () => void): void {
  if (isCalling) heldBack.push(print);
  else print();
}

export function check(holds: boolean, rule: string): void {
  if (!holds) throw new StackFailure(`The demo failed: ${rule}.`);
}

let chapters = 0;
export function chapter(title: string): void {
  chapters += 1;
  console.log(`\n━━ ${chapters}. ${title}`);
}

export function printHeaders(headers: Pick<Headers, 'get'>, names: readonly string[]): void {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) console.log(`  ${name}: ${mask(value)}`);
  }
}

export function printJson(value: object): void {
  printLines([JSON.stringify(value, (name, member) => (SECRET_MEMBERS.includes(name) ? '****' : member), 2)]);
}

export function printLines(lines: readonly string[]): void {
  console.log(mask(lines.join('\n')).replace(/^/gm, '  '));
}

function printRequest(url: string, { method, headers, body }: FetchRequest): void {
  const { pathname, search } = new URL(url);
  console.log(`\n→ ${method} ${pathname}${search}`);
  printHeaders(new Headers(headers), SHOWN_REQUEST_HEADERS);
  if (body !== undefined) printJson(JSON.parse(body) as Json);
}

function printAnswer({ status, ok, headers }: Response, text: string): void {
  console.log(`← ${status} ${STATUS_CODES[status]}`);
  printHeaders(headers, SHOWN_ANSWER_HEADERS);
  if (text === '') return;
  const body = JSON.parse(text) as never;
  if (ok && typeof shown === 'function') printLines(shown(body));
  else printJson(body);
}

/** Shows only the first and the last characters of keys, secrets and tokens. */
function mask(text: string): string {
  return text
    .replace(/("signing_secret": "[0-9a-f]{4})[0-9a-f]+([0-9a-f]{4}")/g, '$1…$2')
    .replace(/\b((?:sk_(?:test|live)|whsec)_[0-9A-Za-z]{4})[0-9A-Za-z]+([0-9A-Za-z]{4})\b/g, '$1…$2')
    .replace(/^Bearer .*$/, 'Bearer ****');
}
