import { choice, filters, id } from '../../../kit/filters.ts';
import { isDay, PERIODS } from './period.ts';

export const readSearch = filters({
  period: choice(...PERIODS),
  day: (value) => (isDay(value) ? value : undefined),
  environment: choice('test', 'live'),
  program_id: id(),
});

export type MoneySearch = ReturnType<typeof readSearch>;
