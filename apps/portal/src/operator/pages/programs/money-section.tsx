import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Money } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Section } from '../../../kit/page.tsx';
import { MoneyFigures } from '../money/money-figures.tsx';
import { dayOf, daysUntil, periodOf } from '../money/period.ts';

/** The money of the last 7 days, in both environments. */
export function MoneySection({ programId }: { readonly programId: string }): ReactNode {
  const today = dayOf(Date.now());
  const week = periodOf('week', today, today);
  const query = { from: week.from, to: week.to, program_id: programId, limit: '1' };
  const reading = useRead<Money>('/money', query);
  return (
    <Section
      title="Money of 7 days"
      actions={
        <Link to="/money" search={{ program_id: programId, period: 'month' }}>
          Other periods
        </Link>
      }
    >
      <Loaded reading={reading}>{(money) => <MoneyFigures money={money} days={daysUntil(today, week)} />}</Loaded>
    </Section>
  );
}
