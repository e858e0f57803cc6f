/** Hooks that read and change data by `call`. A path and its query are the key of what was read. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type CallOptions, call, type Method, type Query, type Result, read, readText } from './client.ts';
import { type Failure, failureOf } from './failure.ts';

/** One of the three states of what a page reads. `Loaded` of the kit shows each. */
export type Reading<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: Failure; readonly retry: () => void }
  | { readonly state: 'loaded'; readonly data: T };

interface ReadOptions {
  /** The item is read again after so many milliseconds while the page is visible. */
  readonly refreshMs?: number;
}

interface ItemOptions<T> extends ReadOptions {
  /** Whether the item can no longer change. */
  readonly refreshUntil?: (data: T) => boolean;
}

/** Reads an item, as in `useRead<Program>('/programs/...')`. */
export function useRead<T>(path: string, query: Query = {}, options: ItemOptions<T> = {}): Reading<T> {
  const { refreshMs = false, refreshUntil } = options;
  const result = useQuery({
    queryKey: queryKeyOf(path, query),
    queryFn: ({ signal }) => read<T>(path, { query, signal }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && refreshUntil?.(data) ? false : refreshMs),
  });
  return readingOf(result.data, result.error, () => void result.refetch());
}

/** The text of an answer, unchanged. */
export function useText(path: string): Reading<string> {
  const result = useQuery({
    queryKey: [...queryKeyOf(path, {}), 'text'],
    queryFn: ({ signal }) => readText(path, {}, signal),
  });
  return readingOf(result.data, result.error, () => void result.refetch());
}

export interface List<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why the next page could not be read. */
  readonly moreFailure: Failure | undefined;
  readonly loadMore: () => void;
}

interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

/** A list of pages: `useList<Challenge>('/programs/.../challenges', { environment })`. */
export function useList<T>(path: string, query: Query = {}, options: ReadOptions = {}): Reading<List<T>> {
  const result = useInfiniteQuery({
    queryKey: [...queryKeyOf(path, query), 'pages'],
    queryFn: ({ pageParam, signal }) =>
      read<Page<T>>(path, { query: { ...query, cursor: pageParam ?? undefined }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: options.refreshMs ?? false,
  });
  const list = result.data && {
    rows: result.data.pages.flatMap(({ data }) => data),
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    moreFailure: result.isFetchNextPageError ? failureOf(result.error) : undefined,
    loadMore: () => void result.fetchNextPage(),
  };
  return readingOf(list, result.error, () => void result.refetch());
}

export interface Change<T> {
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
  /**
   * Resolves to undefined if the call failed; `failure` then says why. An answer without a body
   * resolves to null.
   */
  readonly run: (body?: unknown) => Promise<T | undefined>;
  readonly reset: () => void;
}

/**
 * A call that changes something. Its answer is kept nowhere but in the caller, because it may be a
 * secret. Afterwards everything that was read below one of the paths is read again.
 */
export function useChange<T>(
  method: Method,
  path: string,
  affects: readonly string[],
  options: Pick<CallOptions, 'timeoutMs'> = {},
): Change<T> {
  const refresh = useRefresh(affects);
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const run = async (body?: unknown) => {
    setRunning(true);
    setFailure(undefined);
    const result: Result<T> = await call<T>(method, path, { ...options, body });
    setRunning(false);
    if (!result.ok) {
      setFailure(result.failure);
      return undefined;
    }
    refresh();
    return result.data ?? (null as T);
  };
  return { isRunning, failure, run, reset: () => setFailure(undefined) };
}

/** Reads everything again that was read below one of the paths. */
export function useRefresh(paths: readonly string[]): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ predicate: ({ queryKey }) => isBelow(String(queryKey[0]), paths) });
}

export function queryKeyOf(path: string, query: Query): readonly unknown[] {
  return [path, query];
}

function isBelow(path: string, affects: readonly string[]): boolean {
  return affects.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

function readingOf<T>(data: T | undefined, error: Error | null, retry: () => void): Reading<T> {
  if (data !== undefined) return { state: 'loaded', data };
  return error === null ? { state: 'loading' } : { state: 'failed', failure: failureOf(error), retry };
}
