/** Turns traces on for this process if its configuration names a collector. */
import { observeCoalescers } from '@laurel/coalesce';
import { createCoalescerObserver } from './coalescer-observer.ts';
import { useTracer } from './tracer.ts';
import type { TracingOptions } from './tracing-options.ts';

/** Disposing sends the remaining spans, for at most 2 s. */
export async function startTracing(options: TracingOptions): Promise<AsyncDisposable> {
  const { url } = options;
  if (url === undefined) return { async [Symbol.asyncDispose]() {} };
  const { createOpenTelemetry } = await import('./opentelemetry.ts');
  const { tracer, flush } = createOpenTelemetry({ ...options, url });
  useTracer(tracer);
  observeCoalescers(createCoalescerObserver(tracer));
  return {
    async [Symbol.asyncDispose]() {
      useTracer(undefined);
      observeCoalescers(undefined);
      await flush();
    },
  };
}
