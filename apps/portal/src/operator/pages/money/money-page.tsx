import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Money, MoneyOfProgram } from '../../../api/api-types.ts';
import { useList, useRead } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { idField } from '../../../kit/filters.ts';
import { ListTable } from '../../../kit/list-table.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import type { Column } from '../../../kit/table.tsx';
import { MoneyFigures, SUM_COLUMNS } from './money-figures.tsx';
import { dayOf, daysUntil, PERIODS, type Period, periodOf } from './period.ts';
import type { MoneySearch } from './search.ts';

const route = getRouteApi('/shell/money');
const REFRESH_MS = 30_000;

const FIELDS = [
  { name: 'environment', label: 'Environment', options: ['test', 'live'] },
  { name: 'program_id', label: 'Program', ...idField },
] as const;

const COLUMNS: readonly Column<MoneyOfProgram>[] = [
  { name: 'Program', grow: 2, cell: (row) => <Program {...row} /> },
  { name: 'Environment', cell: ({ environment }) => environment },
  ...SUM_COLUMNS,
];

export function MoneyPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const today = dayOf(Date.now());
  const period = periodOf(search.period ?? 'day', search.day ?? today, today);
  const { from, to } = period;
  const query = { from, to, environment: search.environment, program_id: search.program_id };
  const sums = useRead<Money>('/money', { ...query, limit: '1' }, { refreshMs: REFRESH_MS });
  const programs = useList<MoneyOfProgram>('/money', query, { refreshMs: REFRESH_MS });
  return (
    <Page title="Money" actions={<PeriodChoice search={search} period={period} />}>
      <p>
        {from === to ? from : `${from} to ${to}`}, in UTC days. A week is the 7 days that end with a day, a month is a
        calendar month.
      </p>
      <FilterBar fields={FIELDS} value={search} onChange={(next) => void navigate({ search: next })} />
      <Section title="Sum">
        <Loaded reading={sums}>{(money) => <MoneyFigures money={money} days={daysUntil(today, period)} />}</Loaded>
      </Section>
      <Section title="Programs">
        <ListTable
          reading={programs}
          caption="Programs"
          columns={COLUMNS}
          keyOf={({ program_id, environment }) => `${program_id} ${environment}`}
          empty={<Empty title="No program has money in this period">Choose another period.</Empty>}
        />
      </Section>
    </Page>
  );
}

function Program({ program_id: programId, name }: MoneyOfProgram): ReactNode {
  if (programId === null) return <span className="muted">before programs were named</span>;
  return (
    <Link className="row-link" to="/programs/$programId" params={{ programId }}>
      {name ?? programId}
    </Link>
  );
}

interface PeriodChoiceProps {
  readonly search: MoneySearch;
  readonly period: Period;
}

function PeriodChoice({ search, period }: PeriodChoiceProps): ReactNode {
  const navigate = route.useNavigate();
  return (
    <>
      <label className="inline">
        Period
        <select
          value={search.period ?? 'day'}
          onChange={({ target }) => {
            const next = PERIODS.find((one) => one === target.value);
            void navigate({ search: (now) => ({ ...now, period: next }), resetScroll: false });
          }}
        >
          {PERIODS.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Link to="/money" search={{ ...search, day: period.before }}>
        Earlier
      </Link>
      {period.after !== undefined && (
        <Link to="/money" search={{ ...search, day: period.after }}>
          Later
        </Link>
      )}
    </>
  );
}
