/**
 * Writes the request log after the responses. For a request, the log only puts one short object
 * into a queue, and no request waits for a write. A body is redacted as soon as the response has
 * ended, and only its kept part stays in memory: memory that outlives a request costs more than the
 * rest of the log.
 *
 * The queue is bounded in lines and in bytes. A line for which there is no room is dropped, and so
 * are the lines of a write that fails. Dropped lines are counted, and logged at most once a minute.
 * No request fails or slows down for the log.
 *
 * A program beyond its rate limit must not cost much through the log either. So of the requests
 * that got a 429, the log keeps one a second for each program and environment, and only counts the
 * others. A program also has a budget of bytes a second in each environment, beyond which the log
 * leaves out bodies and queries: the database also has the idempotency records, and no program may
 * fill its disk.
 */
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import { instantOfId } from '@laurel/values/ids';
import { createByteBudgets } from '@laurel/values/tenant';
import type { Principal } from '../domain/principal.ts';
import {
  MAX_KEPT_BYTES,
  MAX_PATH_CHARACTERS,
  MAX_SHORT_CHARACTERS,
  redactBody,
  redactPath,
  redactShortText,
} from '../domain/redaction.ts';
import {
  type FirstRequestOfMilestone,
  insertRequests,
  type LoggedRequest,
  type Milestone,
  makeRequestPartitions,
} from '../repository/requests.ts';
import { createLineQueue } from './line-queue.ts';

/** A request that has ended, as it passed through the gateway. */
export interface EndedRequest {
  readonly requestId: string;
  readonly principal: Principal;
  readonly method: string;
  readonly url: string;
  readonly route: string;
  /** The pattern of the route that the router found, if no handler named it before it answered. */
  readonly pattern: string | undefined;
  readonly status: number;
  readonly errorCode: string | undefined;
  readonly durationMs: number;
  readonly idempotencyKey: string | undefined;
  readonly isReplayed: boolean;
  readonly userAgent: string | undefined;
  readonly requestBody: Buffer | undefined;
  readonly responseBody: string | undefined;
}

export interface RequestLog extends AsyncDisposable {
  add(request: EndedRequest): void;
}

/** Due lines gather for this long, so that there are few writes. */
const FLUSH_MS = 200;
/**
 * How many bytes of bodies and paths each process keeps for a program and environment: 1.4 GB a
 * day. The bytes of two seconds are two bodies of the largest size. A program at the default rate
 * limit uses about a quarter of this. A line beyond the budget has at most
 * 3 * MAX_SHORT_CHARACTERS characters of the program's own, and the rate limit bounds the lines.
 */
const BYTES_PER_SECOND = 16 * 1024;
/** How long a stopping process waits until the last lines are written. */
const STOP_MS = 3_000;
const TOO_MANY_REQUESTS = 429;
const SECOND_MS = 1_000;
const LOG_INTERVAL_MS = 60_000;
/**
 * How many first requests a process remembers: more than most hosts have programs. A process with
 * more forgets them all, and writes them to the database again.
 */
const MAX_KNOWN_FIRSTS = 10_000;

const MILESTONE_OF_ROUTE: Readonly<Record<string, Milestone>> = {
  'POST /v1/players': 'player_linked',
  'POST /v1/attempts': 'attempt_created',
  'POST /v1/attempts/{attempt_id}/outcome': 'outcome_reported',
};

export function startRequestLog({
  database,
  logger,
}: {
  readonly database: Database;
  readonly logger: Logger;
}): RequestLog {
  const dropped = counter(
    'laurel_request_log_dropped_total',
    'Requests that the request log has left out, by reason.',
    ['reason'],
  );
  for (const reason of ['full', 'database', 'limited']) dropped.inc({ reason }, 0);
  const knownFirsts = new Set<string>();
  const isFirstInSecond = createOncePerSecond();
  const budgets = createByteBudgets(BYTES_PER_SECOND);
  const queue = createLineQueue();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let hasPartitions = false;
  let sinceLogged = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  const drop = (reason: 'full' | 'database', lines: number, error?: unknown) => {
    dropped.inc({ reason }, lines);
    sinceLogged += lines;
    const now = performance.now();
    if (now - loggedAt < LOG_INTERVAL_MS) return;
    logger.warn({ err: error, reason, lines: sinceLogged }, 'the request log has dropped lines');
    loggedAt = now;
    sinceLogged = 0;
  };

  /**
   * Takes the bodies and the path of a request from the budget of its program, and returns whether
   * the budget had enough. The budget also bounds the time that redaction takes.
   */
  const takesWhole = ({ principal: { windowId }, url, requestBody, responseBody }: EndedRequest): boolean => {
    const kept = keptOf(requestBody?.length) + keptOf(responseBody?.length) + Math.min(url.length, MAX_PATH_CHARACTERS);
    const now = performance.now();
    if (budgets.waitFor(windowId, kept, now) > 0) return false;
    budgets.take(windowId, kept, now);
    return true;
  };

  const write = async (lines: readonly LoggedRequest[]) => {
    try {
      const firsts = firstsOf(lines, knownFirsts);
      if (!hasPartitions) await makeRequestPartitions(database);
      hasPartitions = true;
      await insertRequests(database, lines, firsts);
      if (knownFirsts.size > MAX_KNOWN_FIRSTS) knownFirsts.clear();
      for (const first of firsts) knownFirsts.add(nameOf(first));
    } catch (error) {
      drop('database', lines.length, error);
    }
  };

  /** Writes one batch after another, until no line in the queue is due. */
  const writeAll = async (take: () => readonly LoggedRequest[]) => {
    for (let batch = take(); batch.length > 0; batch = take()) await write(batch);
  };

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll(() => queue.takeDue(performance.now())).finally(() => {
      writing = undefined;
      if (queue.length > 0) schedule();
    });
  };
  const schedule = () => {
    timer ??= setTimeout(flush, FLUSH_MS).unref();
  };

  return {
    add(request) {
      if (request.status === TOO_MANY_REQUESTS && !isFirstInSecond(request.principal.windowId)) {
        dropped.inc({ reason: 'limited' });
        return;
      }
      if (queue.isFull) return drop('full', 1);
      if (!queue.add(lineOf(request, takesWhole(request)), performance.now())) return drop('full', 1);
      if (queue.isPressed) flush();
      else schedule();
    },
    async [Symbol.asyncDispose]() {
      const deadline = new AbortController();
      const rest = async () => {
        await writing;
        clearTimeout(timer);
        await writeAll(() => queue.takeDue(Number.POSITIVE_INFINITY));
      };
      const timedOut = new Promise<void>((resolve) => {
        const timeout = setTimeout(resolve, STOP_MS);
        deadline.signal.addEventListener('abort', () => clearTimeout(timeout));
      });
      await Promise.race([rest(), timedOut]);
      deadline.abort();
      if (queue.length > 0) drop('database', queue.length);
    },
  };
}

/** Whether the subject is seen for the first time in this second. */
function createOncePerSecond(): (subject: string) => boolean {
  const seen = new Set<string>();
  let second = 0;
  return (subject) => {
    const now = Math.floor(performance.now() / SECOND_MS);
    if (now !== second) seen.clear();
    second = now;
    if (seen.has(subject)) return false;
    seen.add(subject);
    return true;
  };
}

const NO_BODY = { text: null, isTruncated: false };

/** A body that is left out is shown as cut off at its first byte. */
const LEFT_OUT = { text: '', isTruncated: true };

function keptOf(length = 0): number {
  return Math.min(length, MAX_KEPT_BYTES);
}

/** The line of a request; unless it `isWhole`, without bodies and the query. */
function lineOf(request: EndedRequest, isWhole: boolean): LoggedRequest {
  const { requestId, principal, url, idempotencyKey, userAgent, requestBody, responseBody } = request;
  const sent = requestBody === undefined ? NO_BODY : isWhole ? redactBody(requestBody.toString()) : LEFT_OUT;
  const answered = responseBody === undefined ? NO_BODY : isWhole ? redactBody(responseBody, true) : LEFT_OUT;
  const path = isWhole ? redactPath(url) : redactPath(url.replace(/\?.*/, '')).slice(0, MAX_SHORT_CHARACTERS);
  return {
    requestId,
    programId: principal.programId,
    environment: principal.environment,
    at: instantOfId(requestId),
    method: request.method,
    path,
    route: routeOf(request),
    status: request.status,
    errorCode: request.errorCode ?? null,
    durationMs: Math.round(request.durationMs * 10) / 10,
    idempotencyKey: idempotencyKey === undefined ? null : redactShortText(idempotencyKey),
    isReplayed: request.isReplayed,
    userAgent: userAgent === undefined ? null : redactShortText(userAgent),
    requestBody: sent.text,
    isRequestBodyTruncated: sent.isTruncated,
    responseBody: answered.text,
    isResponseBodyTruncated: answered.isTruncated,
  };
}

function routeOf({ route, pattern }: EndedRequest): string {
  return route === 'unknown' && pattern !== undefined ? `/v1${pattern.replace(/:(\w+)/g, '{$1}')}` : route;
}

/**
 * The requests that are the first of their kind, as far as this process knows. If several processes
 * write a first request, the database keeps the earliest.
 */
function firstsOf(lines: readonly LoggedRequest[], known: ReadonlySet<string>): FirstRequestOfMilestone[] {
  const firsts = new Map<string, FirstRequestOfMilestone>();
  for (const { programId, environment, at, method, route, status } of lines) {
    if (status >= 300) continue;
    for (const milestone of ['key_used', MILESTONE_OF_ROUTE[`${method} ${route}`]] as const) {
      if (milestone === undefined) continue;
      const name = nameOf({ programId, environment, milestone });
      if (!known.has(name) && !firsts.has(name)) firsts.set(name, { programId, environment, milestone, at });
    }
  }
  return [...firsts.values()];
}

function nameOf({ programId, environment, milestone }: Omit<FirstRequestOfMilestone, 'at'>): string {
  return `${programId} ${environment} ${milestone}`;
}
