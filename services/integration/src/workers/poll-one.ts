/**
 * One poll: pages of one integration, one after the other, until the partner has no more or
 * `max_pages` are read. For each page:
 *
 *   request   one GET, to the origin that the integration was leased for
 *   settle    its records, as those of a push (commits/settle-records.ts); a refused record does
 *             not affect the others
 *   record    one commit: the cursor after the page, the log entry, and the state of the poll
 *             (repository/poll-leases.ts)
 *
 * A crash before `record` leaves the lease. Once it has expired, a replica requests the same page
 * again, and records that were settled are duplicates. A failure of the partner ends the poll and
 * is counted; a failure of this service ends it and is not. Neither moves the cursor, but a cursor
 * that the partner refuses three times in a row is dropped (domain/cursor-refusal.ts).
 */
import type { Egress } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import { isRefused } from '@laurel/errors';
import { excerptOf, parseJson } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import type { RecordEnd, RecordSettler } from '../commits/settle-records.ts';
import type { BodyScheduler } from '../domain/body-scheduler.ts';
import { type CursorRefusals, cursorRefusalsAfter } from '../domain/cursor-refusal.ts';
import { type Descriptor, type Pull, parseDescriptor } from '../domain/descriptor.ts';
import { parseBody } from '../domain/json-body.ts';
import { firstRequest, nextPage, type PageRequest } from '../domain/paging.ts';
import type { PageNews } from '../domain/paging-backwards.ts';
import type { PollBudget } from '../domain/poll-budget.ts';
import { type PageAnswer, type PollFailure, pageAnswerOf } from '../domain/poll-failure.ts';
import { leaseUntil } from '../domain/poll-schedule.ts';
import { authHeaders } from '../domain/pull-auth.ts';
import { pullSecretOwner } from '../domain/pull-secret.ts';
import { readRecords, recordsCostOf } from '../domain/read-body.ts';
import type { RecordResult } from '../domain/record-result.ts';
import { retryAtOf } from '../domain/retry-after.ts';
import { failpoint } from '../failpoints.ts';
import { type PollLease, type PollProgress, recordPage } from '../repository/poll-leases.ts';

export type PollOneDeps = {
  readonly database: Database;
  readonly egress: Egress;
  readonly encryption: Encryption;
  readonly settler: Pick<RecordSettler, 'settle'>;
  readonly bodyScheduler: BodyScheduler;
  readonly budget: PollBudget;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The time from the request for a page to the end of its body. */
  readonly timeoutMs: number;
  /** Whether to request no further page. */
  readonly isStopping: () => boolean;
};

/** `lost`: another replica has the lease, or the partner changed where the poll continues. */
export type PollEnd = 'succeeded' | PollFailure | 'interrupted' | 'lost';

/** What a poll requests, and for which lease. */
type Polled = {
  readonly lease: PollLease;
  readonly descriptor: Descriptor;
  readonly pull: Pull;
  readonly headers: Headers;
};
type Headers = Readonly<Record<string, string>>;

/** A page after it was read and settled. */
type PageEnd = {
  readonly progress: PollProgress;
  readonly body: Buffer;
  readonly records: readonly RecordResult[];
  /** The request for the next page; null if none follows. */
  readonly next: PageRequest | null;
};

/** The default headers; the partner may set its own. */
const OWN_HEADERS = { accept: 'application/json', 'user-agent': 'Laurel-Integrations/1' };
const MAX_PAGE_BYTES = 1_048_576;
/** How long a page may take, unless the configuration sets another time. */
export const DEFAULT_PAGE_TIMEOUT_MS = 10_000;
const NOTHING = { body: Buffer.alloc(0), records: [], next: null };
const INTERRUPTED: PageEnd = { ...NOTHING, progress: { kind: 'interrupted' } };

/** Rejects only if the end could not be recorded: the lease stays, as after a crash. */
export function createPollOne(deps: PollOneDeps): (lease: PollLease) => Promise<PollEnd> {
  const { database, egress, encryption, settler, bodyScheduler, budget, clock, logger, timeoutMs, isStopping } = deps;

  function polledOf(lease: PollLease): Polled {
    const descriptor = parseDescriptor(parseJson(lease.descriptorText), 'pull_poll');
    if (isRefused(descriptor) || descriptor.pull === null) throw new Error('the stored descriptor cannot be polled');
    const { pull } = descriptor;
    if (new URL(pull.url).origin !== lease.origin) throw new Error('the stored descriptor is not of the stored origin');
    const secret =
      lease.pullSecret === null ? null : encryption.decrypt(lease.pullSecret, pullSecretOwner(lease.integrationId));
    const headers = { ...OWN_HEADERS, ...withLowerCaseNames(pull.headers), ...authHeaders(pull.auth, secret) };
    return { lease, descriptor, pull, headers };
  }

  async function requestPage({ lease, headers }: Polled, url: string): Promise<PageAnswer> {
    // A request that left the origin would reveal the secret, which is in the headers.
    if (new URL(url).origin !== lease.origin) throw new Error('a request would leave the origin of its integration');
    const limits = { timeoutMs, maxBodyBytes: MAX_PAGE_BYTES };
    await failpoint('integration.poll.before-request');
    const begunAt = performance.now();
    const result = await egress.request({ method: 'GET', url, headers, ...limits });
    await failpoint('integration.poll.after-request');
    return pageAnswerOf(result, { ...limits, durationMs: performance.now() - begunAt });
  }

  async function readPage(polled: Polled, request: PageRequest, requestId: string): Promise<PageEnd> {
    const { lease, descriptor, pull } = polled;
    const answer = await requestPage(polled, request.url);
    if (answer.kind === 'aborted') return INTERRUPTED;
    const { body } = answer;
    if (answer.kind === 'failed') {
      const { failure, retryAfter } = answer;
      const retryAt = retryAtOf(retryAfter, clock());
      return { ...failed(failure, { retryAt, ...refusalsOf(lease, request, failure) }), body };
    }
    const { integrationId, tenant } = lease;
    const { json, read } = await bodyScheduler.run(tenant, () => readJson(descriptor, body));
    const sent = read.kind === 'refused' ? [] : read.kind === 'single' ? [read.record] : read.records;
    budget.take(tenant, body.length + recordsCostOf(sent), clock());
    if (json === null) return { ...failed('not_json'), body };
    if (read.kind === 'refused') return { ...failed('unreadable'), body };

    const ends = await settler.settle({ integrationId, tenant, requestId }, sent);
    const page = { body, records: ends.map(({ result }) => result) };
    const next = nextPage(descriptor, pull, request, json, newsOf(ends));
    if (next.kind === 'unreadable') return { ...failed('next_page'), ...page };
    if (next.kind === 'stuck') return { ...failed('same_instant'), ...page };
    const { cursor } = next;
    if (next.kind === 'end' || isStopping() || !budget.mayPoll(tenant, clock())) {
      return { ...page, progress: { kind: 'succeeded', cursor }, next: null };
    }
    const leasedUntil = leaseUntil(clock(), timeoutMs);
    return { ...page, progress: { kind: 'continues', cursor: next.cursor, leasedUntil }, next: next.request };
  }

  /**
   * A failure of this service. It does not count against the partner, even if the partner's page
   * caused it.
   */
  function interrupted(lease: PollLease, error: unknown): PageEnd {
    logger.error({ err: error, integrationId: lease.integrationId }, 'a poll failed on our side');
    return INTERRUPTED;
  }

  async function record(lease: PollLease, { progress, body, records }: PageEnd, entry: { id: string; at: Date }) {
    const { integrationId } = lease;
    const logged = {
      ...entry,
      integrationId,
      kind: 'poll' as const,
      bodyExcerpt: excerptOf(body),
      error: errorOf(progress),
      records,
    };
    const beforeCommit = () => failpoint('integration.poll.before-commit');
    const recorded = await recordPage(database, lease, { progress, entry: logged }, beforeCommit);
    await failpoint('integration.poll.after-commit');
    if (progress.kind === 'failed' && progress.isDropped && !recorded.isLost) {
      logger.warn({ integrationId, failure: progress.failure }, 'a cursor that its partner refuses is dropped');
    }
    return recorded;
  }

  return async (lease) => {
    let polled: Polled | undefined;
    let request: PageRequest | undefined;
    for (;;) {
      const at = clock();
      const entry = { id: newId(at), at };
      let page: PageEnd;
      try {
        polled ??= polledOf(lease);
        request ??= firstRequest(polled.pull, lease.cursor, lease.lastFailure === 'same_instant');
        page = await readPage(polled, request, entry.id);
      } catch (error) {
        page = interrupted(lease, error);
      }
      const { isLost, isOpen } = await record(lease, page, entry);
      if (isLost) return 'lost';
      if (page.next === null || !isOpen) return pollEndOf(page.progress);
      request = page.next;
    }
  };
}

function failed(
  failure: PollFailure,
  more: CursorRefusals & { readonly retryAt: Date | null } = { retryAt: null, refusals: 0, isDropped: false },
): PageEnd {
  return { ...NOTHING, progress: { kind: 'failed', failure, ...more } };
}

/**
 * The first page was requested with the stored cursor and continues its count of refusals. A later
 * page has a new cursor, whose refusals count from zero.
 */
function refusalsOf(lease: PollLease, { cursor, page }: PageRequest, failure: PollFailure): CursorRefusals {
  return cursorRefusalsAfter(failure, cursor, page === 1 ? lease.cursorRefusals : 0);
}

function newsOf(ends: readonly RecordEnd[]): PageNews {
  const isNew = ({ result: { status }, isRepeated }: RecordEnd) =>
    (status === 'settled' || status === 'listened') && !isRepeated;
  if (ends.some(isNew)) return 'new';
  return ends.some(({ isRepeated }) => isRepeated) ? 'known' : 'none';
}

/** The page and its records; null if it is not JSON. */
function readJson(descriptor: Descriptor, body: Buffer) {
  const json = parseBody(body);
  return 'kind' in json ? { json: null, read: json } : { json, read: readRecords(descriptor, json) };
}

function errorOf(progress: PollProgress): string | null {
  switch (progress.kind) {
    case 'failed':
      return progress.isDropped ? `${progress.failure}: the cursor is dropped` : progress.failure;
    case 'interrupted':
      return 'internal_error';
    default:
      return null;
  }
}

function pollEndOf(progress: PollProgress): PollEnd {
  switch (progress.kind) {
    case 'failed':
      return progress.failure;
    case 'interrupted':
      return 'interrupted';
    default:
      return 'succeeded';
  }
}

function withLowerCaseNames(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
