import { filters, id, text } from '../../../kit/filters.ts';

/** `program_id` is the program whose `player_ref` it may be. */
export const readSearch = filters({ q: text(), program_id: id() });
