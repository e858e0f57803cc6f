import { choice, filters, id, text } from '../../kit/filters.ts';

export const STATUSES = ['2xx', '4xx', '5xx'] as const;
export const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'] as const;

export const readSearch = filters({
  status: choice(...STATUSES),
  error_code: text(64),
  method: choice(...METHODS),
  route: text(200),
  idempotency_key: text(),
  attempt_id: id(),
});

export type RequestSearch = ReturnType<typeof readSearch>;
