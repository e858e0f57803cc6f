/** What several members of a descriptor share. */
import { validationMessage } from '@laurel/errors';
import { isJsonObject } from '@laurel/json';
import { z } from 'zod';
import { type JsonPointer, parsePointer } from './json-pointer.ts';

/** Begins the names of members that the partner adds, for example comments. */
const OWN_PREFIX = 'x-';

/**
 * An object of known members. The partner's own members are accepted and not read; others are
 * refused.
 */
export function partnerObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.preprocess(withoutPartnerMembers, z.strictObject(shape));
}

export function withoutPartnerMembers(sent: unknown): unknown {
  if (!isJsonObject(sent)) return sent;
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !name.startsWith(OWN_PREFIX)));
}

export const pointer = z.string().transform((text, context): JsonPointer => {
  const parsed = parsePointer(text);
  if (parsed !== null) return parsed;
  context.addIssue('must be a JSON Pointer: empty, or names that each follow a `/`; `-` is not a name');
  return z.NEVER;
});

/** A value that the descriptor contains literally. */
export const scalarSchema = z.custom<string | number | boolean | null>(
  (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  'must be a string, a number, true, false or null',
);

/**
 * A bare pointer, or the long form that `schema` parses. The type of the value decides which of the
 * two is parsed, so that the message is about the form that the partner meant.
 */
export function pointerOr<Long extends z.ZodType, Short>(schema: Long, ofPointer: (parsed: JsonPointer) => Short) {
  return z.unknown().transform((sent, context): z.output<Long> | Short => {
    if (typeof sent === 'string') return ofPointer(parseWithin(context, pointer, sent));
    if (sent === undefined || isJsonObject(sent)) return parseWithin(context, schema, sent);
    context.addIssue('must be a JSON Pointer or an object');
    return z.NEVER;
  });
}

/** Parses a part of the value that is being parsed, and adds its issues to those of the whole. */
export function parseWithin<Schema extends z.ZodType>(
  context: z.core.$RefinementCtx,
  schema: Schema,
  sent: unknown,
  path: readonly string[] = [],
): z.output<Schema> {
  const parsed = schema.safeParse(sent, { error: validationMessage });
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    context.issues.push({ code: 'custom', message: issue.message, path: [...path, ...issue.path], input: sent });
  }
  return z.NEVER;
}
