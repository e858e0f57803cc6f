import { choice, filters } from '../../kit/filters.ts';

export const DEFAULT_HOURS = '24';

export const PERIODS = [
  { hours: '1', label: '1 hour' },
  { hours: '24', label: '24 hours' },
  { hours: '168', label: '7 days' },
] as const;

export const readSearch = filters({ hours: choice('1', '24', '168') });
