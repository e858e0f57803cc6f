/** The requests of a period: a chart, its sums, and the most frequent errors. */
import type { ReactNode } from 'react';
import type { OverviewError, OverviewRequests } from '../../api/api-types.ts';
import { Bars } from '../../kit/charts/bars.tsx';
import { TooLittle } from '../../kit/charts/figure.tsx';
import { formatCount, formatShare } from '../../kit/format.ts';
import { Section } from '../../kit/page.tsx';
import { useProgram } from '../../layout/program.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';
import { filterOf } from './error-filter.ts';

const SERIES = [
  { name: 'Successful', tone: 'good' },
  { name: 'Refused (4xx)', tone: 'warn' },
  { name: 'Failed (5xx)', tone: 'bad' },
] as const;

interface RequestsOverTimeProps {
  readonly requests: OverviewRequests;
  /** The period, such as "24 hours". */
  readonly period: string;
}

export function RequestsOverTime({ requests, period }: RequestsOverTimeProps): ReactNode {
  const { environment } = useProgram();
  return (
    <Section title="Requests" actions={<ProgramLink path="/requests">Request log</ProgramLink>}>
      {requests.total === 0 ? (
        <TooLittle title={`No requests in the last ${period}`}>
          Your servers sent nothing to /v1 with a {environment} key.
        </TooLittle>
      ) : (
        <div className="overview-requests">
          <Picture requests={requests} period={period} />
          <Errors requests={requests} />
        </div>
      )}
    </Section>
  );
}

function Picture({ requests: { buckets, total }, period }: RequestsOverTimeProps): ReactNode {
  const title = `${formatCount(total)} ${total === 1 ? 'request' : 'requests'} in the last ${period}`;
  if (buckets.length < 2) return <TooLittle title={title}>A longer period shows them over time.</TooLittle>;
  return (
    <Bars
      title={title}
      series={SERIES}
      buckets={buckets.map(({ from, ok, errors_4xx, errors_5xx }) => ({ from, values: [ok, errors_4xx, errors_5xx] }))}
    />
  );
}

function Errors({ requests }: { readonly requests: OverviewRequests }): ReactNode {
  const { total, errors_4xx, errors_5xx, top_errors } = requests;
  return (
    <div className="overview-errors">
      <ErrorSum status="4xx" name="Refused" count={errors_4xx} total={total} />
      <ErrorSum status="5xx" name="Failed" count={errors_5xx} total={total} />
      <h3>Top errors</h3>
      {top_errors.length === 0 ? (
        <p className="muted">None in this period.</p>
      ) : (
        <ul>
          {top_errors.map((error) => (
            <TopError key={error.code} error={error} />
          ))}
        </ul>
      )}
    </div>
  );
}

interface ErrorSumProps {
  readonly status: '4xx' | '5xx';
  readonly name: string;
  readonly count: number;
  readonly total: number;
}

function ErrorSum({ status, name, count, total }: ErrorSumProps): ReactNode {
  return (
    <p className="overview-row">
      <ProgramLink path="/requests" search={{ status }}>
        {name} ({status})
      </ProgramLink>
      <span>
        {formatCount(count)} <span className="muted">{formatShare(count / total)}</span>
      </span>
    </p>
  );
}

function TopError({ error: { code, count } }: { readonly error: OverviewError }): ReactNode {
  return (
    <li className="overview-row">
      <ProgramLink path="/requests" search={filterOf(code)}>
        <code>{code}</code>
      </ProgramLink>
      <span>{formatCount(count)}</span>
    </li>
  );
}
