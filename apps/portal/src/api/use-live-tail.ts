/**
 * A list to which rows are added while a reader looks. It asks every 2 s for rows after the newest,
 * only while the page is visible. New rows wait until the reader shows them, so that nothing moves
 * under the pointer:
 *   useLiveTail<AttemptLine>({ path, query: { environment, ...filters }, keyOf: ({ id }) => id })
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Query, Result } from './client.ts';
import { call } from './client.ts';
import type { Failure } from './failure.ts';
import {
  beginTail,
  type KeyOf,
  showWaiting,
  type Tail,
  type TailPage,
  takeChanged,
  takeNewer,
  takeOlder,
} from './tail.ts';
import type { List, Reading } from './use-read.ts';
import { ignoreAbort, pause, untilVisible } from './wait.ts';

const POLL_MS = 2_000;
const POLL_AFTER_FAILURE_MS = 10_000;
/** A list whose rows change is read again, its newest rows, after so many polls. */
const POLLS_PER_REFRESH = 4;
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
  /** Rows change after they have been added, as a status: the newest are read again and again. */
  readonly isChanging?: boolean;
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

export function useLiveTail<T>({ path, query, keyOf, isChanging = false }: TailSource<T>): Reading<LiveTail<T>> {
  const address = JSON.stringify([path, query]);
  const [state, setState] = useState<State<T>>({});
  const [isPaused, setPaused] = useState(false);
  const [reloads, setReloads] = useState(0);
  const polls = useRef(0);
  const latest = useRef({ path, query, keyOf });
  latest.current = { path, query, keyOf };
  /** Aborted when the address changes: no answer to the old one reaches the new list. */
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: another address or a reload begins anew.
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
    const isRefresh = isChanging && polls.current % POLLS_PER_REFRESH === 0;
    const [newer, current] = await Promise.all([
      ask({ after: tail?.headCursor ?? undefined }, signal),
      isRefresh ? ask({}, signal) : undefined,
    ]);
    if (signal.aborted) return POLL_MS;
    if (!newer.ok) {
      change((now) => now, { pollFailure: newer.failure });
      return POLL_AFTER_FAILURE_MS;
    }
    const rows = current?.ok ? current.data.data : [];
    change((now) => takeChanged(takeNewer(now, newer.data, keyOf), rows, keyOf), { pollFailure: undefined });
    return newer.data.data.length < PAGE_ROWS ? POLL_MS : 0;
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
      waiting: tail.waiting.length,
      isOverfull: tail.isOverfull,
      showWaiting: () => (tail.isOverfull ? reload() : change(showWaiting, {})),
      isPaused,
      setPaused,
      pollFailure: state.pollFailure,
    },
  };
}

/**
 * A long search may reach the limit of requests, and goes on after it. Null for another failure.
 */
function limitedForMs(failure: Failure): number | null {
  if (failure.kind !== 'refused' || failure.status !== 429) return null;
  return (failure.retryAfterSeconds ?? 1) * 1_000;
}

/** A poll that brings nothing must not render a long list again. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address begins anew.
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
