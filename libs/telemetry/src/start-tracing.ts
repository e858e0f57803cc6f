/** Switches traces on for this process, if it was told where to send them. */
import { observeCoalescers } from '@laurel/coalesce';
import { createCoalescerObserver } from './coalescer-observer.ts';
import { useTracer } from './tracer.ts';

/** `traceidratio` takes a share of the requests; those that begin with `parentbased_` also respect what a caller has decided. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type TracingOptions = {
  readonly serviceName: string;
  /** Where OTLP/HTTP is spoken, `/v1/traces` included. Without it traces are off. */
  readonly url: string | undefined;
  readonly sampler: (typeof SAMPLERS)[number];
  /** For `traceidratio`: 0 to 1. */
  readonly ratio: number;
  /** Told that spans were lost. They never wait for room, nor does a request. */
  readonly onFault: (fault: string) => void;
};

/** Disposing sends what is left, and waits for that 2 s at the most. */
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
