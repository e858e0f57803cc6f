/**
 * Finds the fields of a form that a refusal is about. A 400 of the routes below `/api` lists its
 * issues in the message: `fee: must be above 0.00; top_n must be at least 1`. This only places the
 * texts; no decision rests on them.
 */
import type { Failure } from '../api/failure.ts';

/** What is wrong with a field, by the field's name. */
export type FieldErrors = Readonly<Record<string, string>>;

interface PlacedFailure {
  readonly errors: FieldErrors;
  /** Undefined if every issue has its field. */
  readonly rest: Failure | undefined;
}

export function placeFailure(failure: Failure | undefined, names: readonly string[]): PlacedFailure {
  if (failure?.kind !== 'refused' || failure.code !== 'invalid_request') return { errors: {}, rest: failure };
  const errors: Record<string, string> = {};
  const rest: string[] = [];
  for (const issue of failure.message.split('; ')) {
    const name = firstNamed(issue, names);
    if (name === undefined) rest.push(issue);
    else errors[name] = name in errors ? `${errors[name]} ${sentence(issue, name)}` : sentence(issue, name);
  }
  return { errors, rest: rest.length === 0 ? undefined : { ...failure, message: rest.join('; ') } };
}

/** The field that the issue names first. */
function firstNamed(issue: string, names: readonly string[]): string | undefined {
  const found = names
    .map((name) => ({ name, at: issue.search(new RegExp(`\\b${name}\\b`)) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at);
  return found[0]?.name;
}

/** Turns "fee: must be above 0.00" into "Must be above 0.00." */
function sentence(issue: string, name: string): string {
  const text = issue.startsWith(`${name}: `) ? issue.slice(name.length + 2) : issue;
  const isPath = text.startsWith(name);
  return `${isPath ? text : text.charAt(0).toUpperCase() + text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
