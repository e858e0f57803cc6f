/**
 * `<EndpointHealth endpoint={endpoint} />`: how the deliveries of a period ended, and how long the
 * sends took.
 */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WebhookEndpoint, WebhookEndpointStats, WebhookFailure } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { Bars } from '../../kit/charts/bars.tsx';
import { TooLittle } from '../../kit/charts/figure.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatCount, formatDuration, words } from '../../kit/format.ts';
import { Loaded } from '../../kit/loaded.tsx';
import { Section } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { formatRate } from './endpoints.ts';
import { ResendFailed } from './resend-failed.tsx';
import { HOURS } from './search.ts';

const route = getRouteApi('/p/$programId/$environment/webhooks/$endpointId');
const REFRESH_MS = 15_000;

const SERIES = [
  { name: 'Delivered', tone: 'good' },
  { name: 'Failed', tone: 'bad' },
] as const;

const PERIODS: Readonly<Record<string, string>> = { 24: '24 hours', 168: '7 days', 720: '30 days' };

export function EndpointHealth({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const { hours = '24' } = route.useSearch();
  const path = `/webhook-endpoints/${endpoint.id}/stats`;
  const reading = useRead<WebhookEndpointStats>(path, { hours }, { refreshMs: REFRESH_MS });
  const actions = (
    <>
      <Period hours={hours} />
      {endpoint.active && <ResendFailed endpointId={endpoint.id} />}
    </>
  );
  return (
    <Section title="Health" actions={actions}>
      <Loaded reading={reading}>
        {(stats) => (
          <>
            <Facts items={factsOf(stats)} />
            <Picture stats={stats} period={PERIODS[hours] ?? ''} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Period({ hours }: { readonly hours: string }): ReactNode {
  const navigate = useNavigate({ from: route.id });
  return (
    <label className="inline">
      <span className="for-screen-readers">Period</span>
      <select
        value={hours}
        onChange={({ target }) => {
          const next = HOURS.find((one) => one === target.value);
          void navigate({ search: (now) => ({ ...now, hours: next }), replace: true, resetScroll: false });
        }}
      >
        {HOURS.map((value) => (
          <option key={value} value={value}>
            {`Last ${PERIODS[value]}`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Picture({ stats, period }: { readonly stats: WebhookEndpointStats; readonly period: string }): ReactNode {
  const title = `Deliveries of the last ${period}`;
  if (stats.delivered + stats.failed === 0) {
    return <TooLittle title={title}>No delivery of this period has ended yet.</TooLittle>;
  }
  return (
    <>
      <Bars
        title={title}
        series={SERIES}
        buckets={stats.buckets.map(({ from, delivered, failed }) => ({ from, values: [delivered, failed] }))}
      />
      {stats.counted_from !== null && (
        <p className="muted">
          More than 50,000 deliveries: only those since <Time at={stats.counted_from} /> are counted.
        </p>
      )}
    </>
  );
}

function factsOf(stats: WebhookEndpointStats) {
  const { delivered, failed, pending, success_rate: rate, p50_ms: p50, p95_ms: p95, last_failure: failure } = stats;
  const duration = (ms: number | null) => (ms === null ? '–' : formatDuration(ms));
  return [
    { label: 'Delivered', value: rate === null ? '–' : `${formatRate(rate)} (${formatCount(delivered)})` },
    { label: 'Failed', value: formatCount(failed) },
    { label: 'Pending', value: formatCount(pending) },
    { label: 'Median of a send', value: duration(p50) },
    { label: '95th percentile', value: duration(p95) },
    { label: 'Last failure', value: failure === null ? 'none' : <LastFailure failure={failure} /> },
  ];
}

function LastFailure({ failure }: { readonly failure: WebhookFailure }): ReactNode {
  const { programId, environment } = useProgram();
  const { at, delivery_id: deliveryId, http_status: status, error_kind: kind } = failure;
  const cause = status === null ? words(kind ?? 'not sent') : `HTTP ${status}`;
  return (
    <>
      <Link to="/p/$programId/$environment/deliveries/$deliveryId" params={{ programId, environment, deliveryId }}>
        {cause}
      </Link>
      , <Time at={at} />
    </>
  );
}
