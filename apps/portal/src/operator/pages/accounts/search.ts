import { choice, filters, id, text } from '../../../kit/filters.ts';

export const ENVIRONMENTS = ['live', 'test'] as const;
export const FLAGS = ['enforcement_flag', 'under_investigation', 'blocked', 'self_excluded'] as const;

export const readSearch = filters({
  email: text(),
  flag: choice(...FLAGS),
  sandbox_of: id(),
  player_ref: text(),
  program_id: id(),
  environment: choice(...ENVIRONMENTS),
});

export type AccountSearch = ReturnType<typeof readSearch>;

/** The environment whose statement the page of an account shows. */
export const readStatementSearch = filters({ environment: choice(...ENVIRONMENTS) });

/** Returns the fields that are still missing to look a player up; none if no field is given. */
export function missingPlayerFields(search: AccountSearch): readonly string[] {
  const parts = [
    { name: 'player', value: search.player_ref },
    { name: 'program', value: search.program_id },
    { name: 'environment', value: search.environment },
  ];
  const missing = parts.filter(({ value }) => value === undefined);
  return missing.length === parts.length ? [] : missing.map(({ name }) => name);
}
