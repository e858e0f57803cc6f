/** A collector of traces: it stores the spans that processes send as OTLP over HTTP. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface CollectedSpan {
  /** `service.name` of the sending process. */
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** The ids of the spans that this one links to. */
  readonly links: readonly string[];
  readonly isFailed: boolean;
}

export interface Collector extends AsyncDisposable {
  /** The address for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** The spans that have arrived. */
  readonly spans: readonly CollectedSpan[];
  /** The requests that have arrived, as unparsed text. */
  readonly bodies: readonly string[];
}

/** The parts of OTLP's JSON that this file reads. */
interface TracesBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

interface OtlpSpan extends Pick<CollectedSpan, 'name' | 'traceId' | 'spanId'> {
  readonly parentSpanId?: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly links: readonly { readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

interface OtlpAttribute {
  readonly key: string;
  /** The value under the name of its type: `{ stringValue: 'x' }`. */
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

const FAILED = 2;

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url === '/v1/traces') {
      bodies.push(body);
      spans.push(...spansOf(JSON.parse(body)));
    }
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function spansOf({ resourceSpans }: TracesBody): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => toCollected(service, span)));
  });
}

function toCollected(service: string, span: OtlpSpan): CollectedSpan {
  const { name, traceId, spanId, parentSpanId = '' } = span;
  return {
    service,
    name,
    traceId,
    spanId,
    parentSpanId,
    attributes: valuesOf(span.attributes),
    links: span.links.map((link) => link.spanId),
    isFailed: span.status.code === FAILED,
  };
}

function valuesOf(attributes: readonly OtlpAttribute[]): CollectedSpan['attributes'] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']));
}
