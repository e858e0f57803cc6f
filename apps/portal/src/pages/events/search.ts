import type { WebhookEventType } from '../../api/api-types.ts';
import { choice, filters } from '../../kit/filters.ts';

/** The types of events are in the order of the catalogue. */
export const EVENT_TYPES = [
  'attempt.settled',
  'attempt.refunded',
  'challenge.suspended',
  'round.settled',
  'round.cancelled',
  'award.released',
  'webhook.test',
] as const satisfies readonly WebhookEventType[];

export const readSearch = filters({ event: choice(...EVENT_TYPES) });
