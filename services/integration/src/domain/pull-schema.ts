/** `pull` of a descriptor: how the pages of a `pull_poll` are requested. */
import { isAtMost } from '@laurel/json';
import { isCallersHeader } from '@laurel/untrusted-url';
import { z } from 'zod';
import { parseWithin, partnerObject, pointer, withoutPartnerMembers } from './schema-parts.ts';

const MAX_PAGES = 5;
const MAX_NAME_CHARACTERS = 100;
const MAX_VALUE_CHARACTERS = 1_000;

/** A token of RFC 9110, 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Printable ASCII, which every server reads in the same way. */
const HEADER_VALUE = /^[\t\u0020-\u007e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/;
/**
 * Headers whose values are secrets. They belong to `auth`, because everybody who may read the
 * integration sees the rest of the descriptor.
 */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie']);

const value = z
  .string()
  .refine((text) => isAtMost(text, MAX_VALUE_CHARACTERS), `must have at most ${MAX_VALUE_CHARACTERS} characters`);

const param = z
  .string()
  .min(1)
  .refine((text) => isAtMost(text, MAX_NAME_CHARACTERS), `must have at most ${MAX_NAME_CHARACTERS} characters`);

const headerName = z
  .string()
  .refine((name) => HEADER_NAME.test(name), 'must be the name of a header')
  .refine(isCallersHeader, 'must not be a header that the connection needs');

const headerValue = value.refine((text) => HEADER_VALUE.test(text), 'must be printable ASCII');

const headers = z.record(z.string(), headerValue).superRefine((sent, context) => {
  for (const name of Object.keys(sent)) parseWithin(context, headerName, name, [name]);
  const names = Object.keys(sent).map((name) => name.toLowerCase());
  if (new Set(names).size < names.length) context.addIssue('must not have a header twice');
  if (names.some((name) => SECRET_HEADERS.has(name))) context.addIssue('must not have a secret: use `auth`');
});

/** Absent in a descriptor from the database, which stores the secret encrypted and apart. */
const secret = headerValue.min(1).optional();

const AUTH_TYPES = ['none', 'header', 'bearer', 'basic'];

const auth = z.preprocess(
  withoutPartnerMembers,
  z.discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('none') }),
      z
        .strictObject({ type: z.literal('header'), name: headerName, value: secret })
        .transform(({ type, name, value: sent = null }) => ({ type, name, secret: sent })),
      z
        .strictObject({ type: z.literal('bearer'), token: secret })
        .transform(({ type, token = null }) => ({ type, secret: token })),
      z
        .strictObject({
          type: z.literal('basic'),
          // A colon would end the user name (RFC 7617).
          username: value.refine((text) => !text.includes(':') && !CONTROL.test(text), 'must not have a colon'),
          password: value
            .min(1)
            .refine((text) => !CONTROL.test(text), 'must not have control characters')
            .optional(),
        })
        .transform(({ type, username, password = null }) => ({ type, username, secret: password })),
    ],
    { error: ofTypes(AUTH_TYPES) },
  ),
);

const PAGING_TYPES = ['none', 'cursor', 'next_url', 'since'];

const order = z.enum(['oldest_first', 'newest_first']).default('oldest_first');

const paging = z.preprocess(
  withoutPartnerMembers,
  z.discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('none') }),
      z.strictObject({ type: z.literal('cursor'), param, pointer, order }),
      z.strictObject({ type: z.literal('next_url'), pointer, order }),
      z
        .strictObject({ type: z.literal('since'), param, pointer, initial: value.min(1).optional() })
        .transform(({ initial = null, ...sent }) => ({ ...sent, initial })),
    ],
    { error: ofTypes(PAGING_TYPES) },
  ),
);

const query = z
  .record(z.string(), value)
  .superRefine((sent, context) => {
    for (const name of Object.keys(sent)) parseWithin(context, param, name, [name]);
  })
  .default({});

export const pullSchema = partnerObject({
  url: z.string().refine((text) => URL.parse(text)?.protocol === 'https:', 'must be a URL that begins with https://'),
  query,
  headers: headers.default({}),
  auth: auth.default({ type: 'none' }),
  paging: paging.default({ type: 'none' }),
  max_pages: z.int().min(1).max(MAX_PAGES).default(MAX_PAGES),
}).transform(({ max_pages: maxPages, ...sent }) => ({ ...sent, maxPages }));

/** The message if `type` is not one of these. */
function ofTypes(types: readonly string[]) {
  const names = types.map((type) => `\`${type}\``).join(', ');
  return (issue: { readonly code?: string }) =>
    issue.code === 'invalid_union' ? `must be one of ${names}` : undefined;
}
