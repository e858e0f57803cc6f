/**
 * Traces: where one request spent its time, over all services and their databases.
 *
 * The gateway begins a trace for a request, or none: the sampler decides there and nowhere else. A span is only begun inside a trace, so
 * code outside of one gets `undefined` and does nothing. While traces are off `tracer` itself is undefined, and that is the only check that
 * the rest of the code makes: OpenTelemetry is then not even loaded (`start-tracing.ts`).
 *
 * Spans are read by people who must not see more than the logs show: never a key, an e-mail, evidence, metadata, a
 * player's ref, a value of a statement, or the text of an error, which may quote any of them.
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
  /** All spans that `work` begins, now or later, are inside this span. */
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
  /** The spans that `work` begins are in no trace. */
  outside<Result>(work: () => Result): Result;
}

/** Undefined while traces are off. */
export let tracer: Tracer | undefined;

/** For `start-tracing.ts` and the tests of tracing. */
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

/** An error's code, as PostgreSQL's SQLSTATE or Node's ECONNREFUSED, or else its class; never its text. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}
