/**
 * A list to which rows are added while a reader looks. It asks every 2 s for rows after the newest,
 * only while the page is visible. New rows wait until the reader shows them, so that nothing moves
 * under the pointer:
 *   useLiveTail<RequestLine>({ path, query: { environment, ...filters }, keyOf: ({ id }) => id })
 * `<LiveTable>` shows it. Pass `changes` for rows that can change after they were added. The newest
 * page is then read again and again. A row that is not on it, for example because the filters no
 * longer select it, is fetched alone.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Query, Result } from './client.ts';
import { call } from './client.ts';
import type { Failure } from './failure.ts';
import {
  beginTail,
  type KeyOf,
  rowsInDoubt,
  showWaiting,
  type Tail,
  type TailPage,
  takeChanged,
  takeNewer,
  takeOlder,
  takePresent,
} from './tail.ts';
import type { List, Reading } from './use-read.ts';
import { ignoreAbort, pause, untilVisible } from './wait.ts';

const POLL_MS = 2_000;
const POLL_AFTER_FAILURE_MS = 10_000;
/** If rows can change, the newest page is read again at every n-th poll. */
const POLLS_PER_REFRESH = 2;
/** The most rows that one refresh fetches alone: a developer's requests are rate-limited. */
const MAX_ROW_READS = 5;
const PAGE_ROWS = 50;

export interface LiveTail<T> extends List<T> {
  /** How many rows wait to be shown. */
  readonly waiting: number;
  readonly isOverfull: boolean;
  readonly showWaiting: () => void;
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
  /** Why the last poll failed; undefined once one has succeeded. */
  readonly pollFailure: Failure | undefined;
}

export interface TailSource<T> {
  readonly path: string;
  readonly query: Query;
  readonly keyOf: KeyOf<T>;
  readonly changes?: RowChanges<T>;
}

/** How rows change after they have been added. */
export interface RowChanges<T> {
  /** Whether the row can no longer change. */
  readonly isFinal: (row: T) => boolean;
  /** The path of the row by itself. */
  readonly pathOf: (row: T) => string;
}

type Asked<T> = Promise<Result<TailPage<T>>>;
type Ask<T> = (extra: Query, signal: AbortSignal) => Asked<T>;

interface State<T> {
  readonly tail?: Tail<T>;
  /** Why the first page could not be read. */
  readonly failure?: Failure;
  readonly pollFailure?: Failure | undefined;
  readonly moreFailure?: Failure | undefined;
  readonly isLoadingMore?: boolean;
}

export function useLiveTail<T>({ path, query, keyOf, changes }: TailSource<T>): Reading<LiveTail<T>> {
  const address = JSON.stringify([path, query]);
  const [state, setState] = useState<State<T>>({});
  const [isPaused, setPaused] = useState(false);
  const [reloads, setReloads] = useState(0);
  const polls = useRef(0);
  const latest = useRef({ path, query, keyOf });
  latest.current = { path, query, keyOf };
  /** The signal is aborted when the address changes, so no old answer reaches the new list. */
  const visit = useRef(new AbortController());
  const ask = useCallback<Ask<T>>((extra, signal) => {
    const source = latest.current;
    return call('get', source.path, { query: { ...source.query, limit: PAGE_ROWS, ...extra }, signal });
  }, []);
  const change = useCallback((update: (tail: Tail<T>) => Tail<T>, rest: Omit<State<T>, 'tail'>) => {
    setState((now) => {
      if (now.tail === undefined) return now;
      const next = { ...now, ...rest, tail: update(now.tail) };
      return isSame(now, next) ? now : next;
    });
  }, []);

  /** A page may be empty and not the last: asks until rows come or the list ends. */
  const loadOlder = useCallback(
    async (from: string | null, { signal }: AbortController) => {
      if (from === null) return;
      change((tail) => tail, { isLoadingMore: true, moreFailure: undefined });
      let cursor: string | null = from;
      while (cursor !== null) {
        const result: Result<TailPage<T>> = await ask({ cursor }, signal);
        if (signal.aborted) return;
        if (!result.ok) {
          const waitMs = limitedForMs(result.failure);
          if (waitMs === null) return change((tail) => tail, { isLoadingMore: false, moreFailure: result.failure });
          await pause(waitMs, signal);
          continue;
        }
        const page = result.data;
        cursor = page.data.length === 0 ? page.next_cursor : null;
        change((tail) => takeOlder(tail, page, latest.current.keyOf), { isLoadingMore: cursor !== null });
      }
    },
    [ask, change],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: another address or a reload starts over.
  useEffect(() => {
    const controller = new AbortController();
    visit.current = controller;
    setState({});
    const begin = async () => {
      const result = await ask({}, controller.signal);
      if (controller.signal.aborted) return;
      if (!result.ok) return setState({ failure: result.failure });
      const tail = beginTail(result.data);
      setState({ tail });
      if (tail.rows.length === 0) await loadOlder(tail.nextCursor, controller);
    };
    begin().catch(ignoreAbort);
    return () => controller.abort();
  }, [address, reloads, ask, loadOlder]);

  const { tail, failure, isLoadingMore = false } = state;
  usePoll(tail !== undefined && !isPaused && !tail.isOverfull, address, async (signal) => {
    polls.current += 1;
    const isRefresh = changes !== undefined && polls.current % POLLS_PER_REFRESH === 0;
    // The newest page is read before the newer rows, so the page has no row that the newer rows
    // lack.
    const present = isRefresh ? await ask({}, signal) : undefined;
    const newer = await ask({ after: tail?.headCursor ?? undefined }, signal);
    if (signal.aborted) return POLL_MS;
    if (!newer.ok) {
      change((now) => now, { pollFailure: newer.failure });
      return POLL_AFTER_FAILURE_MS;
    }
    const isFull = newer.data.data.length >= PAGE_ROWS;
    change((now) => takeNewer(now, newer.data, keyOf), { pollFailure: undefined });
    if (changes === undefined || !present?.ok || isFull) return isFull ? 0 : POLL_MS;
    change((now) => takePresent(now, present.data, keyOf), {});
    const turn = polls.current / POLLS_PER_REFRESH;
    const doubt = { keyOf, isFinal: changes.isFinal, turn, limit: MAX_ROW_READS };
    const read = await readRows(rowsInDoubt(tail?.rows ?? [], present.data.data, doubt), changes, signal);
    change((now) => takeChanged(now, read, keyOf), {});
    return POLL_MS;
  });

  const reload = () => setReloads((count) => count + 1);
  if (tail === undefined)
    return failure === undefined ? { state: 'loading' } : { state: 'failed', failure, retry: reload };
  return {
    state: 'loaded',
    data: {
      rows: tail.rows,
      hasMore: tail.nextCursor !== null,
      isLoadingMore,
      moreFailure: state.moreFailure,
      loadMore: () => void loadOlder(tail.nextCursor, visit.current).catch(ignoreAbort),
      waiting: tail.waiting.length + tail.late,
      isOverfull: tail.isOverfull,
      showWaiting: () => (tail.isOverfull || tail.late > 0 ? reload() : change(showWaiting, {})),
      isPaused,
      setPaused,
      pollFailure: state.pollFailure,
    },
  };
}

/** The rows as they are now, without those that cannot be read. */
async function readRows<T>(rows: readonly T[], { pathOf }: RowChanges<T>, signal: AbortSignal): Promise<readonly T[]> {
  const results = await Promise.all(rows.map((row) => call<T>('get', pathOf(row), { signal })));
  return results.flatMap((result, index) => (result.ok ? [withMembersOf(rows[index] as T, result.data)] : []));
}

/** Keeps the members that a row of the list has; the item's own path returns more of them. */
function withMembersOf<T>(row: T, item: T): T {
  const names = Object.keys(row as object) as (keyof T)[];
  return Object.fromEntries(names.map((name) => [name, item[name]])) as T;
}

/** How long to wait if the failure is the rate limit, which a long search may reach; else null. */
function limitedForMs(failure: Failure): number | null {
  if (failure.kind !== 'refused' || failure.status !== 429) return null;
  return (failure.retryAfterSeconds ?? 1) * 1_000;
}

/** Whether two states show the same: a poll without news must not render a long list again. */
function isSame<T>(one: State<T>, other: State<T>): boolean {
  return (
    one.tail === other.tail &&
    one.pollFailure === other.pollFailure &&
    one.moreFailure === other.moreFailure &&
    one.isLoadingMore === other.isLoadingMore
  );
}

/** Runs `poll` again and again while the page is visible; it returns the pause before the next. */
export function usePoll(isPolling: boolean, address: string, poll: (signal: AbortSignal) => Promise<number>): void {
  const latest = useRef(poll);
  latest.current = poll;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address starts over.
  useEffect(() => {
    if (!isPolling) return;
    const controller = new AbortController();
    const { signal } = controller;
    const run = async () => {
      let pauseMs = POLL_MS;
      while (!signal.aborted) {
        await pause(pauseMs, signal);
        await untilVisible(signal);
        pauseMs = await latest.current(signal);
      }
    };
    run().catch(ignoreAbort);
    return () => controller.abort();
  }, [isPolling, address]);
}
