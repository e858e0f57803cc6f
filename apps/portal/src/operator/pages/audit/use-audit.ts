import { useQuery } from '@tanstack/react-query';
import type { AuditReport } from '../../../api/api-types.ts';
import { read } from '../../../api/client.ts';
import { type Failure, failureOf } from '../../../api/failure.ts';

/** The timeout is longer than Laurel itself waits for an audit. */
const TIMEOUT_MS = 130_000;

interface Audit {
  readonly isRunning: boolean;
  /** The last report since the browser loaded the pages; it stays while other pages are opened. */
  readonly report: AuditReport | undefined;
  readonly reportedAt: string;
  readonly failure: Failure | undefined;
  readonly run: () => void;
}

/** The audit reads every attempt and transfer, so it runs only when an operator asks for it. */
export function useAudit(): Audit {
  const result = useQuery({
    queryKey: ['/audit'],
    queryFn: ({ signal }) => read<AuditReport>('/audit', { signal, timeoutMs: TIMEOUT_MS }),
    enabled: false,
    retry: false,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return {
    isRunning: result.isFetching,
    report: result.data,
    reportedAt: new Date(result.dataUpdatedAt).toISOString(),
    failure: result.isFetching || result.error === null ? undefined : failureOf(result.error),
    run: () => void result.refetch(),
  };
}
