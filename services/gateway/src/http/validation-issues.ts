/**
 * What is wrong with an input, for the caller to read: the first ten issues, each with its field,
 * in bounded text.
 */
import type { z } from 'zod';

export interface ValidationIssue {
  readonly field?: string;
  readonly message: string;
}

const MAX_ISSUES = 10;
/**
 * The most characters of an issue's field and of its message. Both may contain names that the
 * caller sent.
 */
const MAX_FIELD_CHARACTERS = 100;
const MAX_MESSAGE_CHARACTERS = 200;

/** Names the fields and what is wrong with them; never their values. */
export function validationIssuesOf(error: z.ZodError): ValidationIssue[] {
  return error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const text = bounded(message, MAX_MESSAGE_CHARACTERS);
    return path.length === 0
      ? { message: text }
      : { field: bounded(path.join('.'), MAX_FIELD_CHARACTERS), message: text };
  });
}

function bounded(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // Half a surrogate pair would not be valid Unicode.
  return `${text.slice(0, maxCharacters).toWellFormed()}...`;
}
