/**
 * `<MoneyFigures money={money} days={[...]} environments={['live']} />`: the sums of a period, and
 * a chart of its days for each environment.
 */
import type { ReactNode } from 'react';
import type { Environment, MoneyOfEnvironment, Money as MoneyOfPeriod } from '../../../api/api-types.ts';
import { LineChart } from '../../../kit/charts/line.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { money as formatMoney } from '../../../kit/format.ts';
import { Money } from '../../../kit/money.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';

/** Amounts that a row of any kind has. */
type Sums = Omit<MoneyOfEnvironment, 'environment' | 'house' | 'held_now'>;

export const SUM_COLUMNS: readonly Column<Sums>[] = [
  { name: 'Fees', align: 'end', cell: ({ fees }) => <Money amount={fees} /> },
  { name: 'Refunds', align: 'end', cell: ({ refunds }) => <Money amount={refunds} /> },
  { name: 'Paid', align: 'end', cell: ({ paid }) => <Money amount={paid} /> },
  { name: 'House keeps', align: 'end', cell: ({ kept }) => <Money amount={kept} /> },
  { name: 'Put on hold', align: 'end', cell: ({ held }) => <Money amount={held} /> },
  { name: 'Denied', align: 'end', cell: ({ denied }) => <Money amount={denied} /> },
];

const ENVIRONMENT_COLUMNS: readonly Column<MoneyOfEnvironment>[] = [
  { name: 'Environment', cell: ({ environment }) => environment },
  ...SUM_COLUMNS,
  { name: 'Held now', align: 'end', cell: ({ held_now }) => <Money amount={held_now} /> },
  { name: 'House since the beginning', align: 'end', cell: ({ house }) => <Money amount={house} /> },
];

interface MoneyFiguresProps {
  readonly money: MoneyOfPeriod;
  /** The days of the period that have begun. */
  readonly days: readonly string[];
}

export function MoneyFigures({ money, days }: MoneyFiguresProps): ReactNode {
  return (
    <>
      <Table
        caption="Sums"
        columns={ENVIRONMENT_COLUMNS}
        rows={money.environments}
        keyOf={({ environment }) => environment}
        empty={null}
      />
      <p className="muted">
        The house keeps fees less refunds and payouts; deposits are the players’ own.{' '}
        <CountedAt at={money.counted_at} />
      </p>
      {days.length > 1 &&
        money.environments.map(({ environment }) => (
          <Picture key={environment} environment={environment} money={money} days={days} />
        ))}
    </>
  );
}

function CountedAt({ at }: { readonly at: string | null }): ReactNode {
  if (at === null) return <>Nothing has been counted yet: the first count takes a minute.</>;
  return (
    <>
      Counted from the ledger <Time at={at} />; a day is final 15 minutes after its end.
    </>
  );
}

const SERIES = [
  { name: 'Fees', tone: 'info', of: 'fees' },
  { name: 'Refunds', tone: 'warn', of: 'refunds' },
  { name: 'Paid', tone: 'good', of: 'paid' },
] as const;

interface PictureProps extends MoneyFiguresProps {
  readonly environment: Environment;
}

function Picture({ environment, money, days }: PictureProps): ReactNode {
  const title = `Days in ${environment}`;
  const byDay = new Map(money.days.filter((one) => one.environment === environment).map((one) => [one.day, one]));
  if (byDay.size === 0) return <Empty title={`No money moved in ${environment}`} />;
  return (
    <LineChart
      title={title}
      format={(dollars) => formatMoney(dollars.toFixed(2))}
      series={SERIES.map(({ name, tone, of }) => ({
        name,
        tone,
        // Numbers are exact enough here: the height of a point needs no cents.
        points: days.map((day) => ({ at: `${day}T00:00:00.000Z`, value: Number(byDay.get(day)?.[of] ?? 0) })),
      }))}
    />
  );
}
