import { choice, filters } from '../../kit/filters.ts';
import { EVENT_TYPES } from '../events/search.ts';

export const HOURS = ['24', '168', '720'] as const;

/** `hours` is the period of the health, the others filter the log. */
export const readSearch = filters({
  hours: choice(...HOURS),
  status: choice('pending', 'delivered', 'failed'),
  event: choice(...EVENT_TYPES),
});
