import { choice, filters, text } from '../../../kit/filters.ts';

export const STATUSES = ['held', 'paid', 'denied'] as const;
export const ENVIRONMENTS = ['live', 'test'] as const;

const UUID_CHARACTERS = 36;

export const readSearch = filters({
  status: choice(...STATUSES),
  environment: choice(...ENVIRONMENTS),
  account_id: text(UUID_CHARACTERS),
  program_id: text(UUID_CHARACTERS),
});
