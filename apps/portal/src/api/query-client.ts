import { QueryClient } from '@tanstack/react-query';
import { failureOf } from './failure.ts';

/** A page that is opened again within this time is shown without a request. */
const STALE_MS = 5_000;
const MAX_RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      networkMode: 'always',
      refetchOnWindowFocus: true,
      retry: (retries, error) => retries < MAX_RETRIES && isTransient(error),
    },
  },
});

function isTransient(error: Error): boolean {
  const failure = failureOf(error);
  return failure.kind === 'refused' ? failure.status >= 500 : false;
}
