import { filters, text } from '../../../kit/filters.ts';

export const readSearch = filters({ actor: text(64), action: text(64), subject: text() });

export type ActionSearch = ReturnType<typeof readSearch>;
