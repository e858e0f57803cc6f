/** Shared by the chapters of the demo: a call that is printed as it runs and compared with the expected answer. */
import { STATUS_CODES } from 'node:http';

export type Json = Record<string, unknown>;
export type Call = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: object;
  readonly expect: number;
  /** The part of the answer to show instead of all of it. */
  readonly summary?: (body: Json) => readonly string[];
};
export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: Json };

/** Ends the demo with one sentence. */
export class DemoFailure extends Error {}

const SHOWN_REQUEST_HEADERS = ['authorization', 'x-api-key', 'idempotency-key', 'x-service-signature'];
const SHOWN_ANSWER_HEADERS = ['idempotency-replayed', 'x-ratelimit-remaining', 'x-request-id'];

export async function ping(origin: string): Promise<void> {
  try {
    const answer = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(5_000) });
    if (answer.ok) return;
  } catch {
    // Reported below.
  }
  throw new DemoFailure(`The stack is not running at ${origin}: run \`npm start\` in another terminal and try again.`);
}

export async function runCall(origin: string, shape: Call): Promise<Answer> {
  isCalling = true;
  try {
    return await callAndPrint(origin, shape);
  } finally {
    isCalling = false;
    for (const print of heldBack.splice(0)) print();
  }
}

/** As runCall, without printing. */
export async function runCallQuietly(origin: string, shape: Call): Promise<Answer> {
  return expected(shape, await send(origin, shape));
}

let isCalling = false;
const heldBack: (() => void)[] = [];

/** Prints now, or once the call in progress has been printed completely. */
export function printBetweenCalls(print: () => void): void {
  if (isCalling) heldBack.push(print);
  else print();
}

async function callAndPrint(origin: string, shape: Call): Promise<Answer> {
  const { method, path, headers, body, expect, summary } = shape;
  console.log(`\n→ ${method} ${path}`);
  printHeaders(new Headers(headers), SHOWN_REQUEST_HEADERS);
  if (body !== undefined) printJson(body);
  const answer = await send(origin, shape);
  console.log(`← ${answer.status} ${STATUS_CODES[answer.status]}`);
  printHeaders(answer.headers, SHOWN_ANSWER_HEADERS);
  if (summary !== undefined && answer.status === expect) printLines(summary(answer.body));
  else if (answer.text !== '') printJson(answer.body);
  return expected(shape, answer);
}

async function send(origin: string, { method, path, headers, body }: Call): Promise<Answer> {
  try {
    const response = await fetch(origin + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    const parsed = text === '' ? {} : (JSON.parse(text) as Json);
    return { status: response.status, headers: response.headers, text, body: parsed };
  } catch (error) {
    throw new DemoFailure(
      `The stack stopped answering in the middle of ${method} ${path} (${(error as Error).message}).`,
    );
  }
}

function expected({ method, path, expect }: Call, answer: Answer): Answer {
  check(answer.status === expect, `${method} ${path} must answer ${expect}, not ${answer.status}`);
  return answer;
}

export function check(holds: boolean, rule: string): void {
  if (!holds) throw new DemoFailure(`The demo failed: ${rule}.`);
}

let chapters = 0;
export function chapter(title: string): void {
  chapters += 1;
  console.log(`\n━━ ${chapters}. ${title}`);
}

export function printHeaders(headers: Headers, names: readonly string[]): void {
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

const SECRET_MEMBERS = ['password', 'token'];

/** Only the first and the last characters of keys, secrets and tokens are shown. */
function mask(text: string): string {
  return text
    .replace(/("signing_secret": "[0-9a-f]{4})[0-9a-f]+([0-9a-f]{4}")/g, '$1…$2')
    .replace(/\b((?:sk_(?:test|live)|whsec)_[0-9A-Za-z]{4})[0-9A-Za-z]+([0-9A-Za-z]{4})\b/g, '$1…$2')
    .replace(/^Bearer .*$/, 'Bearer ****');
}
