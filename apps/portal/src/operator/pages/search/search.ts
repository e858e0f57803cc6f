import { filters, id, text } from '../../../kit/filters.ts';

/** `program_id`: the program in which `q` may be a `player_ref`. */
export const readSearch = filters({ q: text(), program_id: id() });
