import { filters, text } from '../../../kit/filters.ts';

export const readSearch = filters({ email: text() });
