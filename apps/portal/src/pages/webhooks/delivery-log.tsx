/** `<DeliveryLog endpointId={id} />`: the deliveries of an endpoint, as they are created. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { WebhookDelivery, WebhookDeliveryList } from '../../api/api-types.ts';
import { type LiveTail, useLiveTail } from '../../api/use-live-tail.ts';
import { useRead } from '../../api/use-read.ts';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { formatDuration, words } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { LiveBar } from '../../kit/live-bar.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Section } from '../../kit/page.tsx';
import { HttpStatus, Status } from '../../kit/status.tsx';
import { More, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { EVENT_TYPES } from '../events/search.ts';
import { withPresent } from './endpoints.ts';

const route = getRouteApi('/p/$programId/$environment/webhooks/$endpointId');
const PRESENT_ROWS = 50;
const REFRESH_MS = 4_000;

const FIELDS = [
  { name: 'status', label: 'Status', options: ['pending', 'delivered', 'failed'] },
  { name: 'event', label: 'Event', options: EVENT_TYPES },
] as const;

const COLUMNS = [
  { name: 'Event', cell: (delivery: WebhookDelivery) => <DeliveryLink delivery={delivery} />, grow: 2 as const },
  { name: 'Status', cell: ({ status }: WebhookDelivery) => <Status value={status} /> },
  { name: 'Last answer', cell: (delivery: WebhookDelivery) => <LastAnswer delivery={delivery} /> },
  { name: 'Sends', cell: ({ attempts }: WebhookDelivery) => attempts.length, align: 'end' as const },
  { name: 'Created', cell: (delivery: WebhookDelivery) => <Time at={delivery.created_at} /> },
  { name: 'Delivery', cell: ({ id }: WebhookDelivery) => <Id value={id} what="delivery" />, grow: 3 as const },
];

export function DeliveryLog({ endpointId }: { readonly endpointId: string }): ReactNode {
  const { hours, ...query } = route.useSearch();
  const navigate = useNavigate({ from: route.id });
  const path = `/webhook-endpoints/${endpointId}/deliveries`;
  const reading = useLiveTail<WebhookDelivery>({ path, query, keyOf: ({ id }) => id });
  return (
    <Section title="Deliveries">
      <FilterBar
        fields={FIELDS}
        value={query}
        onChange={(next) => void navigate({ search: { ...next, hours }, replace: true, resetScroll: false })}
      />
      <Loaded reading={reading}>{(tail) => <Rows path={path} tail={tail} isFiltered={isSet(query)} />}</Loaded>
    </Section>
  );
}

interface RowsProps {
  readonly path: string;
  readonly tail: LiveTail<WebhookDelivery>;
  readonly isFiltered: boolean;
}

/** A tail has each row as it was when it arrived; pending ones are read again until they end. */
function Rows({ path, tail, isFiltered }: RowsProps): ReactNode {
  const hasPending = tail.rows.slice(0, PRESENT_ROWS).some(({ status }) => status === 'pending');
  const options = hasPending ? { refreshMs: REFRESH_MS } : {};
  const present = useRead<WebhookDeliveryList>(path, { limit: PRESENT_ROWS }, options);
  const rows = present.state === 'loaded' ? withPresent(tail.rows, present.data.data) : tail.rows;
  return (
    <>
      <LiveBar tail={tail} />
      <Table
        caption="Deliveries"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ id }) => id}
        empty={<NoDelivery isFiltered={isFiltered} />}
      />
      <More list={tail} />
    </>
  );
}

function DeliveryLink({ delivery: { id, event } }: { readonly delivery: WebhookDelivery }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Link
      className="row-link"
      to="/p/$programId/$environment/deliveries/$deliveryId"
      params={{ programId, environment, deliveryId: id }}
    >
      {event}
    </Link>
  );
}

function LastAnswer({ delivery: { attempts } }: { readonly delivery: WebhookDelivery }): ReactNode {
  const last = attempts.at(-1);
  if (last === undefined) return <span className="muted">not sent yet</span>;
  if (last.duration_ms === null) return <span className="muted">under way</span>;
  const duration = formatDuration(last.duration_ms);
  if (last.http_status === null) return `${words(last.error_kind ?? 'no answer')}, ${duration}`;
  return (
    <span>
      <HttpStatus value={last.http_status} /> {duration}
    </span>
  );
}

function NoDelivery({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="No delivery fits these filters" />;
  return (
    <Empty title="No delivery yet">
      <p>Send a test event above, or report the outcome of an attempt. The log is kept for 30 days.</p>
    </Empty>
  );
}

function isSet(query: Readonly<Record<string, string | undefined>>): boolean {
  return Object.values(query).some((value) => value !== undefined);
}
