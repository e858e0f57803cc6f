/**
 * The metrics of one process in the Prometheus text format, and its traces (`tracer.ts`). Names of
 * metrics begin with `laurel_`; durations are in seconds.
 *
 * A process of one service has one registry, with that service as the label of every metric. Where
 * several services share a process, each has a registry of its own beside the process's.
 */
import { performance } from 'node:perf_hooks';
import { oldestWaits } from '@laurel/coalesce';
import { currentService } from '@laurel/topology/current-service';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type { Counter } from 'prom-client';
export { startTracing } from './start-tracing.ts';
export { errorTypeOf, inSpan, type Span, tracer } from './tracer.ts';
export { SAMPLERS, type TracingOptions } from './tracing-options.ts';

/** The metrics of the process, including Node's, and of its service if it has only one. */
export const metrics = new Registry();
// Leaves out the histogram of event loop delays: its timer wakes the process a hundred times a
// second, which costs 7 ms of CPU a second even when idle. `laurel_event_loop_utilization` shows
// how busy the loop is.
collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
for (const part of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
  metrics.removeSingleMetric(`nodejs_eventloop_lag_${part}_seconds`);
}

gauge(
  'laurel_event_loop_utilization',
  'The share of the time since the last scrape in which the event loop was busy, 0 to 1.',
  [],
  sinceLastReading(),
);

/** Labels every metric of this process with its service. */
export function setServiceLabel(service: string): void {
  metrics.setDefaultLabels({ service });
}

/** The registries of services that share this process. */
const shared = new Map<string, Registry>();

function registryOfThisService(): Registry {
  const service = currentService();
  if (service === undefined) return metrics;
  let registry = shared.get(service);
  if (registry === undefined) {
    registry = new Registry();
    registry.setDefaultLabels({ service });
    shared.set(service, registry);
  }
  return registry;
}

/** All metrics of this process as a page, and its media type. */
export async function renderMetrics(): Promise<{ readonly page: string; readonly contentType: string }> {
  const { contentType } = metrics;
  if (shared.size === 0) return { page: await metrics.metrics(), contentType };
  const pages = await Promise.all([metrics, ...shared.values()].map((registry) => registry.metrics()));
  return { page: joinPages(pages), contentType };
}

/** Joins pages to one, in which the samples of a metric stand together, as the format requires. */
function joinPages(pages: readonly string[]): string {
  const samplesOf = new Map<string, string[]>();
  for (const page of pages) {
    for (const metric of page.split(/^(?=# HELP )/m)) {
      const [help = '', type = '', ...samples] = metric.trimEnd().split('\n');
      const head = `${help}\n${type}`;
      samplesOf.set(head, [...(samplesOf.get(head) ?? []), ...samples]);
    }
  }
  return [...samplesOf].map(([head, samples]) => `${[head, ...samples].join('\n')}\n`).join('\n');
}

/** The counter of this name, made at the first call. */
export function counter<Label extends string = never>(
  name: string,
  help: string,
  labels: readonly Label[] = [],
): Counter<Label> {
  return (
    known<Counter<Label>>(name) ?? new Counter({ name, help, labelNames: labels, registers: [registryOfThisService()] })
  );
}

/** The histogram of this name, made at the first call. */
export function histogram<Label extends string = never>(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: readonly Label[] = [],
): Histogram<Label> {
  return (
    known<Histogram<Label>>(name) ??
    new Histogram({ name, help, buckets: [...buckets], labelNames: labels, registers: [registryOfThisService()] })
  );
}

/** What a gauge shows: one value, or one for each value of its only label. */
type Reading = number | ReadonlyMap<string, number>;

/**
 * The gauge of this name, made at the first call. A gauge with `read` is computed only when it is
 * scraped.
 */
export function gauge<Label extends string = never>(
  name: string,
  help: string,
  labels: readonly Label[] = [],
  read?: () => Reading,
): Gauge<Label> {
  const collect = read && { collect: (): void => show(made, labels, read()) };
  const made: Gauge<Label> =
    known<Gauge<Label>>(name) ??
    new Gauge({ name, help, labelNames: labels, registers: [registryOfThisService()], ...collect });
  return made;
}

function sinceLastReading(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

function show<Label extends string>(made: Gauge<Label>, [label]: readonly Label[], reading: Reading): void {
  if (typeof reading === 'number') {
    made.set(reading);
    return;
  }
  made.reset();
  for (const [of, value] of reading) made.labels({ [label as Label]: of } as Record<Label, string>).set(value);
}

/**
 * Publishes how long the oldest item of each queue has waited, computed when it is scraped.
 * Kubernetes scales a service's pods by it (deploy/kubernetes).
 */
export function publishOldestWaits(): void {
  const service = currentService();
  const inSeconds = () => new Map([...oldestWaits(service)].map(([queue, waitMs]) => [queue, waitMs / 1_000]));
  gauge(
    'laurel_oldest_waiting_call_seconds',
    'How long the call that has waited longest waits for its turn now, by queue; 0 where none waits.',
    ['queue'],
    inSeconds,
  );
}

/**
 * Callers of one service that use one name mean the same metric, so they give it the same kind and
 * labels.
 */
function known<Metric>(name: string): Metric | undefined {
  return registryOfThisService().getSingleMetric(name) as Metric | undefined;
}
