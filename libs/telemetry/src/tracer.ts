/**
 * Traces: where one request spent its time, over all services and their databases.
 *
 * Only the gateway begins a trace, if its sampler selects the request. Other code begins a span
 * only inside a trace: outside one it gets `undefined` and does nothing. While traces are off,
 * `tracer` is undefined, and the rest of the code checks only that: OpenTelemetry is not even
 * loaded (`start-tracing.ts`).
 *
 * People who read spans must not see more than the logs show: never a key, an e-mail, evidence,
 * metadata, a player's ref, a value of a statement, or the text of an error, which may quote any of
 * them.
 */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** OpenTelemetry's span kind: the role of a process in a span. */
type SpanKind = 'internal' | 'server' | 'client';

export interface Span {
  readonly traceId: string;
  /** Names the span to another process (W3C Trace Context). */
  readonly traceparent: string;
  /** Begins a span inside this one. */
  child(kind: SpanKind, name: string, attributes?: Attributes): Span;
  /** Makes this span the parent of all that `work` begins, now or later. */
  run<Result>(work: () => Result): Result;
  /** Links to a related span that is not the parent. */
  linkTo(other: Span): void;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** `failure` is the error type, by `errorTypeOf`. */
  end(failure?: string): void;
}

export interface Tracer {
  /** Begins a trace, if the sampler selects it. */
  begin(name: string, attributes?: Attributes): Span | undefined;
  /** Continues the trace of another process, named by its `traceparent`. */
  follow(traceparent: string | undefined, name: string, attributes?: Attributes): Span | undefined;
  /** The span that this code runs in. */
  active(): Span | undefined;
  /** Runs `work` outside any trace. */
  outside<Result>(work: () => Result): Result;
}

/** The tracer of the process; undefined while traces are off. */
export let tracer: Tracer | undefined;

/** Sets the tracer, for `start-tracing.ts` and the tests of tracing. */
export function useTracer(next: Tracer | undefined): void {
  tracer = next;
}

/** Runs the work in the span, which ends with it. */
export async function inSpan<Result>(span: Span | undefined, work: () => Promise<Result>): Promise<Result> {
  if (span === undefined) return await work();
  try {
    const result = await span.run(work);
    span.end();
    return result;
  } catch (error) {
    span.end(errorTypeOf(error));
    throw error;
  }
}

/**
 * An error's code, such as PostgreSQL's SQLSTATE or Node's ECONNREFUSED, or else its class; never
 * its text.
 */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}
