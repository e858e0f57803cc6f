/**
 * The message for an input that does not match its schema, in one style. The message continues the
 * field's name: (`score`) `is missing`. Where it would not fit, a schema has a message of its own.
 */
import type { z } from 'zod';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a finite number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

const FORMAT: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  uuid: 'a uuid',
  url: 'a URL',
  datetime: 'an ISO 8601 instant with an offset',
};

/** The error map for zod, which calls it if a schema has no message of its own. */
export function validationMessage(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return isAbsent(issue) ? 'is missing' : `must be ${EXPECTED[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return isAbsent(issue) ? 'is missing' : `must be ${oneOf(issue.values)}`;
    case 'invalid_union':
      return isAbsent(issue) ? 'is missing' : undefined;
    case 'invalid_format': {
      const format = FORMAT[issue.format];
      return format === undefined ? undefined : `must be ${format}`;
    }
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must ${bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`;
    case 'unrecognized_keys':
      return `must not have ${unknownNames(issue.keys)}`;
    default:
      return undefined;
  }
}

function isAbsent({ input }: Issue): boolean {
  return input === undefined;
}

function oneOf(values: readonly unknown[]): string {
  return list(values.map(String), 'or');
}

function list(words: readonly string[], last: 'and' | 'or'): string {
  const quoted = words.map((word) => `\`${word}\``);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} ${last} ${quoted.at(-1)}`;
}

/**
 * A message repeats at most this many of the sender's member names, each cut to this many
 * characters.
 */
const MAX_NAMED = 3;
const MAX_NAMED_CHARACTERS = 40;

function unknownNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => name.slice(0, MAX_NAMED_CHARACTERS).toWellFormed());
  if (names.length <= MAX_NAMED) return list(shown, 'and');
  const others = names.length - MAX_NAMED;
  return `${shown.map((name) => `\`${name}\``).join(', ')} and ${others} other${others === 1 ? '' : 's'}`;
}

const UNIT: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

function bound(origin: string, comparison: string, limit: number | bigint): string {
  const unit = UNIT[origin];
  if (unit === undefined) return `be ${comparison} ${limit}`;
  return `have ${comparison} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}
