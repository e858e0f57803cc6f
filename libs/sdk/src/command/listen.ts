/**
 * `laurel listen`: forwards sandbox events to a server that Laurel cannot reach, each after its
 * predecessor is done.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxEvent, SandboxEventList, WebhookEvent } from '../api-types.ts';
import type { Laurel } from '../laurel.ts';
import {
  baseUrlOf,
  CommandError,
  type Environment,
  EXIT_CODES,
  httpUrlOf,
  readArguments,
  requiredSetting,
  settingOf,
} from './command.ts';
import { CURSOR_FILE, CursorFile } from './cursor-file.ts';
import { type ForwardResult, forward } from './forward.ts';
import { createClient, fetchPage, type PageStart, UnavailableError } from './sandbox-events.ts';

export const LISTEN_HELP = `usage: laurel listen --forward-to URL [--events a,b] [--from now|oldest|CURSOR] [--secret S] [--cursor-file FILE]

Forwards the events of your sandbox to URL, signed as webhooks are. The position is kept in ${CURSOR_FILE}: stopped and started again, it
delivers what it missed, for up to 3 days. Each event is sent in order; an answer other than 2xx, or none in 5 seconds, is tried again after 1
and 5 seconds and then given up; a server that is not reachable is waited for. Skip an event whose dedupeKey (verifyWebhook) you have had.

  --forward-to URL    where to POST, like http://127.0.0.1:3000/webhooks
  --events a,b        only these: attempt.settled, attempt.refunded, challenge.suspended, round.settled, round.cancelled, award.released
  --from POSITION     now, oldest or a cursor, instead of where it stopped; now, where it never ran
  --secret S          signs the webhooks, instead of LAUREL_WEBHOOK_SECRET: any secret that your server verifies with
  --cursor-file FILE  instead of ${CURSOR_FILE}; a file belongs to one URL and one --events, and to the listen that began with it last

  LAUREL_BASE_URL          Laurel's address
  LAUREL_API_KEY           a test key, sk_test_...
  LAUREL_WEBHOOK_SECRET    see --secret; it is visible to fewer than an argument

Exits 0 when it is stopped (Ctrl-C), 1 when Laurel refuses the key or the cursor, 2 when an argument or a setting is missing or wrong, or when
the file belongs to another listen or cannot be read or written.
`;

/**
 * Every type of event in the log of the sandbox. The log has no `webhook.test`: only the portal
 * sends that one, to an endpoint.
 */
const EVENTS: readonly Exclude<WebhookEvent['event'], 'webhook.test'>[] = [
  'attempt.settled',
  'attempt.refunded',
  'challenge.suspended',
  'round.settled',
  'round.cancelled',
  'award.released',
];

const POLL_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const MAX_RECEIVER_BACKOFF_MS = 5_000;
/** The pauses after the first failed try and after the second. */
const RETRY_DELAYS_MS = [1_000, 5_000] as const;

interface Settings {
  readonly baseUrl: string;
  readonly laurel: Laurel;
  readonly secret: string;
  readonly url: string;
  /** The set is null for all events. */
  readonly events: ReadonlySet<string> | null;
  /** The position is null to continue at the stored position. */
  readonly from: string | null;
  readonly cursorFile: CursorFile;
}

export async function listen(argv: readonly string[], environment: Environment): Promise<number> {
  const settings = readSettings(argv, environment);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await forwardEvents(settings, stopping.signal);
  } catch (error) {
    if (!stopping.signal.aborted || error instanceof CommandError) throw error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  return EXIT_CODES.done;
}

function readSettings(argv: readonly string[], environment: Environment): Settings {
  const option = { type: 'string' } as const;
  const options = { 'forward-to': option, events: option, from: option, secret: option, 'cursor-file': option };
  const { values } = readArguments({ args: [...argv], options }, LISTEN_HELP);
  const url = httpUrlOf(values['forward-to'] ?? '');
  if (url === null) throw new CommandError('--forward-to needs an address like http://127.0.0.1:3000/webhooks.');
  const apiKey = requiredSetting(environment, 'LAUREL_API_KEY', 'the test key of your program');
  if (!apiKey.startsWith('sk_test_'))
    throw new CommandError('LAUREL_API_KEY is not a test key: listen reads the sandbox.');
  const secret = values.secret ?? settingOf(environment, 'LAUREL_WEBHOOK_SECRET');
  if (secret === null || secret === '')
    throw new CommandError('LAUREL_WEBHOOK_SECRET is not set: your server verifies with it.');
  const baseUrl = baseUrlOf(requiredSetting(environment, 'LAUREL_BASE_URL', "Laurel's address"));
  const events = values.events === undefined ? null : readEvents(values.events);
  return {
    baseUrl,
    laurel: createClient(baseUrl, apiKey),
    secret,
    url: url.href,
    events,
    from: values.from ?? null,
    cursorFile: new CursorFile(values['cursor-file'] ?? CURSOR_FILE, {
      base_url: baseUrl,
      forward_to: url.href,
      events: events && [...events].sort(),
    }),
  };
}

function readEvents(list: string): ReadonlySet<string> {
  const events = list.split(',').map((name) => name.trim());
  const unknown = events.find((name) => !EVENTS.some((known) => known === name));
  if (unknown !== undefined)
    throw new CommandError(`--events: ${JSON.stringify(unknown)} is not one of ${EVENTS.join(', ')}.`);
  return new Set(events);
}

async function forwardEvents(settings: Settings, signal: AbortSignal): Promise<never> {
  const { baseUrl, url, events, cursorFile } = settings;
  let start = await readStart(settings);
  let page = await fetchPatiently(settings, start, signal);
  // Laurel has returned a page, so it knows the position; the position is stored before an event is
  // forwarded. A page from `now` is empty, and its cursor is the current position.
  if ('from' in start && start.from === 'now') start = { after: page.next_cursor };
  await cursorFile.begin(start);
  print(`Forwarding events of ${baseUrl} to ${url}`);
  for (;;) {
    for (const event of page.data) {
      signal.throwIfAborted();
      if (events?.has(event.event) ?? true) await forwardPatiently(event, settings, signal);
      await cursorFile.moveTo(event.cursor);
    }
    if (page.data.length === 0) {
      await cursorFile.requireOwn();
      await sleep(POLL_MS, undefined, { signal });
    }
    page = await fetchPatiently(settings, { after: page.next_cursor }, signal);
  }
}

async function readStart({ from, cursorFile }: Settings): Promise<PageStart> {
  const saved = await cursorFile.read();
  if (from === 'now' || from === 'oldest') return { from };
  return from === null ? (saved ?? { from: 'now' }) : { after: from };
}

/** Waits twice as long after each failure, or as long as Laurel asks. */
async function fetchPatiently({ laurel }: Settings, start: PageStart, signal: AbortSignal): Promise<SandboxEventList> {
  for (let backoffMs = POLL_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
    try {
      return await fetchPage(laurel, start, signal);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      signal.throwIfAborted();
      const waitMs = error.retryAfterMs ?? backoffMs;
      print(`${error.message}; trying again in ${waitMs / 1_000} s`);
      await sleep(waitMs, undefined, { signal });
    }
  }
}

/** Resolves once the event is delivered or given up. */
async function forwardPatiently(event: SandboxEvent, { url, secret }: Settings, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let backoffMs = POLL_MS;
  for (;;) {
    const startedAt = performance.now();
    const result = await forward(event, url, secret, signal);
    const durationMs = Math.round(performance.now() - startedAt);
    const line = `${event.event} ${event.id} ${describe(result)} in ${durationMs} ms`;
    if (result.kind === 'delivered') return print(line);
    const delayMs = result.kind === 'unreachable' ? backoffMs : RETRY_DELAYS_MS[failures];
    if (delayMs === undefined) return print(`${line}, given up`);
    print(`${line}, again in ${delayMs / 1_000} s`);
    await sleep(delayMs, undefined, { signal });
    if (result.kind === 'failed') failures += 1;
    else backoffMs = Math.min(backoffMs * 2, MAX_RECEIVER_BACKOFF_MS);
  }
}

function describe(result: ForwardResult): string {
  return result.kind === 'delivered' ? String(result.status) : result.why;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
