/**
 * Traces by OpenTelemetry's SDK, sent as OTLP over HTTP. Only a process that sends traces loads
 * this file.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { currentService } from '@laurel/topology/current-service';
import {
  DiagLogLevel,
  diag,
  type Context as OtelContext,
  type Span as OtelSpan,
  SpanKind as OtelSpanKind,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Attributes, errorTypeOf, type Span, type Tracer } from './tracer.ts';
import type { TracingOptions } from './tracing-options.ts';

/**
 * Spans that wait to be sent: some seconds of a busy process, about 10 MB. Further spans are
 * dropped; no code waits for them.
 */
const MAX_WAITING_SPANS = 8_192;
const SEND_EVERY_MS = 1_000;
const FLUSH_LIMIT_MS = 2_000;
/** An unreachable collector is logged at most this often, not for every try. */
const ERROR_EVERY_MS = 60_000;
const MAX_ERROR_LENGTH = 300;

const KINDS = { internal: OtelSpanKind.INTERNAL, server: OtelSpanKind.SERVER, client: OtelSpanKind.CLIENT } as const;

export function createOpenTelemetry(options: TracingOptions & { readonly url: string }): {
  readonly tracer: Tracer;
  flush(): Promise<void>;
} {
  reportErrors(options.onError);
  // A collector knows a service by its resource, so each service of a process has a provider.
  const providers: TracerProvider[] = [];
  const tracers = new Map<string, OtelTracer>();
  const otelOf = (serviceName: string): OtelTracer => {
    const known = tracers.get(serviceName);
    if (known !== undefined) return known;
    const provider = createProvider(options, serviceName);
    const otel = provider.getTracer('laurel');
    providers.push(provider);
    tracers.set(serviceName, otel);
    return otel;
  };
  return {
    tracer: createTracer(() => otelOf(currentService() ?? options.serviceName)),
    async flush() {
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        options.onError('the last spans could not be sent in time');
        limit.resolve();
      }, FLUSH_LIMIT_MS);
      // `onError` has already received the error.
      const shutdowns = providers.map((provider) => provider.shutdown().catch(() => undefined));
      await Promise.race([Promise.all(shutdowns), limit.promise]);
      clearTimeout(timer);
    },
  };
}

function createProvider(options: TracingOptions & { readonly url: string }, serviceName: string): TracerProvider {
  return new TracerProvider({
    // OTEL_RESOURCE_ATTRIBUTES from the operator, and the replica's id.
    resource: defaultResource()
      .merge(detectResources({ detectors: [envDetector, serviceInstanceIdDetector] }))
      .merge(resourceFromAttributes({ 'service.name': serviceName })),
    sampler: samplerOf(options),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: options.url }),
        maxQueueSize: MAX_WAITING_SPANS,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  });
}

function samplerOf({ sampler, ratio }: TracingOptions): Sampler {
  const root = sampler.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(ratio)
    : sampler.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new AlwaysOnSampler();
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function reportErrors(onError: (error: string) => void): void {
  let nextAt = 0;
  const report = (error: string) => {
    const now = performance.now();
    if (now < nextAt) return;
    nextAt = now + ERROR_EVERY_MS;
    onError(error.slice(0, MAX_ERROR_LENGTH));
  };
  // Gets the message of each failed export.
  setGlobalErrorHandler((error) =>
    report(error instanceof Error ? `${errorTypeOf(error)} ${error.message}` : String(error)),
  );
  const silent = () => undefined;
  diag.setLogger(
    { error: report, warn: report, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** `otelOfService` returns the tracer of the service whose code runs. */
function createTracer(otelOfService: () => OtelTracer): Tracer {
  const storage = new AsyncLocalStorage<Span | undefined>();

  class RecordedSpan implements Span {
    readonly #span: OtelSpan;
    readonly #within: OtelContext;
    readonly #otel: OtelTracer;

    constructor(span: OtelSpan, otel: OtelTracer) {
      this.#span = span;
      this.#otel = otel;
      this.#within = trace.setSpan(ROOT_CONTEXT, span);
    }

    get traceId(): string {
      return this.#span.spanContext().traceId;
    }

    get traceparent(): string {
      const { traceId, spanId } = this.#span.spanContext();
      return `00-${traceId}-${spanId}-01`;
    }

    child(kind: keyof typeof KINDS, name: string, attributes: Attributes = {}): Span {
      const options = { kind: KINDS[kind], attributes: { ...attributes } };
      return new RecordedSpan(this.#otel.startSpan(name, options, this.#within), this.#otel);
    }

    run<Result>(work: () => Result): Result {
      return storage.run(this, work);
    }

    linkTo(other: Span): void {
      if (other instanceof RecordedSpan) this.#span.addLink({ context: other.#span.spanContext() });
    }

    rename(name: string): void {
      this.#span.updateName(name);
    }

    set(attributes: Attributes): void {
      this.#span.setAttributes({ ...attributes });
    }

    end(failure?: string): void {
      if (failure !== undefined) {
        this.#span.setAttribute('error.type', failure);
        this.#span.setStatus({ code: SpanStatusCode.ERROR });
      }
      this.#span.end();
    }
  }

  const begin = (name: string, attributes: Attributes, parent: OtelContext): Span | undefined => {
    const otel = otelOfService();
    const span = otel.startSpan(name, { kind: OtelSpanKind.SERVER, attributes: { ...attributes } }, parent);
    return span.isRecording() ? new RecordedSpan(span, otel) : undefined;
  };

  return {
    begin: (name, attributes = {}) => begin(name, attributes, ROOT_CONTEXT),
    follow(traceparent, name, attributes = {}) {
      const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
      if (caller === null || (caller.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
      return begin(name, attributes, trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }));
    },
    active: () => storage.getStore(),
    outside: (work) => storage.run(undefined, work),
  };
}
