/**
 * A list to which rows are added while a reader looks. It asks every 2 s for rows after the newest,
 * only while the page is visible. New rows wait until the reader shows them, so that nothing moves
 * under the pointer:
 *   useLiveTail<AttemptLine>({ path, query: { environment, ...filters }, keyOf: ({ id }) => id })
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Query } from './client.ts';
import { call } from './client.ts';
import type { Failure } from './failure.ts';
import { beginTail, type KeyOf, showWaiting, type Tail, type TailPage, takeNewer, takeOlder } from './tail.ts';
import type { List, Reading } from './use-read.ts';

const POLL_MS = 2_000;
const POLL_AFTER_FAILURE_MS = 10_000;
const PAGE_ROWS = 50;

export interface LiveTail<T> extends List<T> {
  /** How many rows wait to be shown. */
  readonly waiting: number;
  readonly isOverfull: boolean;
  readonly showWaiting: () => void;
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
  /** Why the last poll failed; the next one may succeed. */
  readonly pollFailure: Failure | undefined;
}

export interface TailSource<T> {
  readonly path: string;
  readonly query: Query;
  readonly keyOf: KeyOf<T>;
}

interface State<T> {
  readonly tail?: Tail<T>;
  readonly failure?: Failure;
  readonly isLoadingMore?: boolean;
}

export function useLiveTail<T>({ path, query, keyOf }: TailSource<T>): Reading<LiveTail<T>> {
  const address = JSON.stringify([path, query]);
  const [state, setState] = useState<State<T>>({});
  const [isPaused, setPaused] = useState(false);
  const [reloads, setReloads] = useState(0);
  const latest = useRef({ path, query, keyOf });
  latest.current = { path, query, keyOf };
  const ask = useCallback((extra: Query, signal?: AbortSignal) => {
    const source = latest.current;
    const options = { query: { ...source.query, limit: PAGE_ROWS, ...extra } };
    return call<TailPage<T>>('get', source.path, signal === undefined ? options : { ...options, signal });
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another address or a reload begins anew.
  useEffect(() => {
    const controller = new AbortController();
    setState({});
    ask({}, controller.signal).then(
      (result) => setState(result.ok ? { tail: beginTail(result.data) } : { failure: result.failure }),
      ignoreAbort,
    );
    return () => controller.abort();
  }, [address, reloads, ask]);

  const reload = () => setReloads((count) => count + 1);
  const { tail, failure } = state;
  const pollFailure = tail === undefined ? undefined : failure;
  const isPolling = tail !== undefined && !isPaused && !tail.isOverfull;
  usePoll(isPolling, address, async (signal) => {
    const result = await ask({ after: tail?.headCursor }, signal);
    if (!result.ok) {
      setState((now) => ({ ...now, failure: result.failure }));
      return POLL_AFTER_FAILURE_MS;
    }
    setState((now) => (now.tail ? { ...now, tail: takeNewer(now.tail, result.data, keyOf) } : now));
    return result.data.data.length < PAGE_ROWS ? POLL_MS : 0;
  });

  if (tail === undefined)
    return failure === undefined ? { state: 'loading' } : { state: 'failed', failure, retry: reload };
  const loadMore = async () => {
    setState((now) => ({ ...now, isLoadingMore: true }));
    const result = await ask({ cursor: tail.nextCursor ?? undefined });
    setState((now) => {
      if (!result.ok) return { ...now, isLoadingMore: false, failure: result.failure };
      return now.tail ? { tail: takeOlder(now.tail, result.data, keyOf) } : now;
    });
  };
  return {
    state: 'loaded',
    data: {
      rows: tail.rows,
      hasMore: tail.nextCursor !== null,
      isLoadingMore: state.isLoadingMore ?? false,
      loadMore: () => void loadMore(),
      waiting: tail.waiting.length,
      isOverfull: tail.isOverfull,
      showWaiting: () => (tail.isOverfull ? reload() : setState((now) => ({ ...now, ...shown(now.tail) }))),
      isPaused,
      setPaused,
      pollFailure,
    },
  };
}

function shown<T>(tail: Tail<T> | undefined): State<T> {
  return tail === undefined ? {} : { tail: showWaiting(tail) };
}

/** Runs `poll` again and again while the page is visible; it returns the pause before the next. */
export function usePoll(isPolling: boolean, address: string, poll: (signal: AbortSignal) => Promise<number>): void {
  const latest = useRef(poll);
  latest.current = poll;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address begins anew.
  useEffect(() => {
    if (!isPolling) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = (ms: number) => {
      timer = setTimeout(run, ms);
    };
    const run = () => {
      timer = undefined;
      // Becoming visible schedules the next run.
      if (document.hidden) return;
      latest.current(controller.signal).then((pauseMs) => controller.signal.aborted || schedule(pauseMs), ignoreAbort);
    };
    const resume = () => {
      if (document.hidden || timer !== undefined) return;
      schedule(0);
    };
    schedule(POLL_MS);
    document.addEventListener('visibilitychange', resume);
    return () => {
      controller.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', resume);
    };
  }, [isPolling, address]);
}

/** A call that was aborted because its page has gone has no result. */
function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
