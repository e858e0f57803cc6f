import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OverviewDeliveries, OverviewMoney, ProgramOverview } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { Facts } from '../../kit/facts.tsx';
import { formatCount } from '../../kit/format.ts';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';
import { QuickStart } from './quick-start-section.tsx';
import { RequestsOverTime } from './requests-over-time.tsx';
import { DEFAULT_HOURS, PERIODS } from './search.ts';
import './overview.css';

const REFRESH_MS = 10_000;

const route = getRouteApi('/p/$programId/$environment/overview');

export function OverviewPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const { hours = DEFAULT_HOURS } = route.useSearch();
  const path = pathOf('/overview');
  const reading = useRead<ProgramOverview>(path, { environment, hours }, { refreshMs: REFRESH_MS });
  return (
    <Page title="Overview" actions={<Periods />}>
      <Loaded reading={reading}>
        {({ quick_start, requests, deliveries, money }) => (
          <>
            <QuickStart first={quick_start} refreshMs={REFRESH_MS} />
            <RequestsOverTime requests={requests} period={labelOf(hours)} />
            <div className="columns overview-figures">
              <Deliveries deliveries={deliveries} />
              <MoneyOfPeriod money={money} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function labelOf(hours: string): string {
  return PERIODS.find((period) => period.hours === hours)?.label ?? `${hours} hours`;
}

function Periods(): ReactNode {
  const { programId, environment } = useProgram();
  const { hours = DEFAULT_HOURS } = route.useSearch();
  return (
    <nav className="overview-periods" aria-label="Period">
      {PERIODS.map((period) => (
        <Link
          key={period.hours}
          to="/p/$programId/$environment/overview"
          params={{ programId, environment }}
          search={period.hours === DEFAULT_HOURS ? {} : { hours: period.hours }}
          activeOptions={{ exact: true }}
          aria-current={period.hours === hours ? 'true' : undefined}
        >
          {period.label}
        </Link>
      ))}
    </nav>
  );
}

function Deliveries({ deliveries }: { readonly deliveries: OverviewDeliveries }): ReactNode {
  const { delivered, failed, pending, counted_from } = deliveries;
  return (
    <Section title="Webhook deliveries" actions={<ProgramLink path="/webhooks">Webhooks</ProgramLink>}>
      <Facts
        items={[
          { label: 'Delivered', value: <Figure value={formatCount(delivered)} /> },
          { label: 'Failed', value: <Figure value={formatCount(failed)} tone={failed > 0 ? 'bad' : undefined} /> },
          { label: 'Pending', value: <Figure value={formatCount(pending)} /> },
        ]}
      />
      {counted_from !== null && (
        <p className="hint">
          An endpoint has 10,000 deliveries or more in this period: only its deliveries since <Time at={counted_from} />{' '}
          are counted.
        </p>
      )}
    </Section>
  );
}

function MoneyOfPeriod({ money: { fees, refunds, paid, held } }: { readonly money: OverviewMoney }): ReactNode {
  return (
    <Section title="Money" actions={<ProgramLink path="/attempts">Attempts</ProgramLink>}>
      <Facts
        items={[
          { label: 'Fees charged', value: <Figure value={fees === null ? 'not counted' : <Money amount={fees} />} /> },
          {
            label: 'Fees refunded',
            value: <Figure value={refunds === null ? 'not counted' : <Money amount={refunds} />} />,
          },
          { label: 'Paid out', value: <Figure value={<Money amount={paid} />} /> },
          {
            label: 'Held',
            value: <Figure value={<Money amount={held} />} tone={Number(held) > 0 ? 'warn' : undefined} />,
          },
        ]}
      />
      {fees === null && (
        <p className="hint">
          Fees are counted for a program with at most 2,000 accounts and fewer than 10,000 fees in the period. A shorter
          period may have them.
        </p>
      )}
    </Section>
  );
}

interface FigureProps {
  readonly value: ReactNode;
  readonly tone?: 'bad' | 'warn' | undefined;
}

function Figure({ value, tone }: FigureProps): ReactNode {
  return (
    <span className="overview-figure" data-tone={tone}>
      {value}
    </span>
  );
}
