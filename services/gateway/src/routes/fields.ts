/** Fields that several routes under `/api` take, each with its bounds. */

import { MAX_REVIEW_REASON_CHARACTERS } from '@laurel/attempts/domain';
import { foldAscii, hasNul, isAtMost } from '@laurel/json';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import { isUuid } from '@laurel/values/ids';
import { INSTANT_BOUNDS, isInBounds } from '@laurel/values/instant';
import { MAX_EMAIL_CHARACTERS, MAX_PAGE_ROWS, MAX_VERIFICATION_LEVEL } from '@laurel/values/limits';
import { type Cents, parseAmount } from '@laurel/values/money';
import { z } from '../http/zod.ts';
import { component } from './component.ts';
import { amount as amountText } from './v1/fields.ts';

export const environmentName = component('Environment', z.enum(['test', 'live']));
export const environment = environmentName.transform((name) => ENVIRONMENTS[name]);

/** The query parameter `environment`, which filters a list by environment. */
export const inEnvironment = {
  environment: environment.openapi({ description: 'Only rows of this environment.' }),
};

/** A uuid in a path, in lower case. */
export const pathId = z
  .string()
  .refine(isUuid)
  .transform((value) => value.toLowerCase())
  .openapi({ type: 'string', format: 'uuid', description: 'A malformed id gets 404.' });

/** Free text of 1 to `maxLength` characters. PostgreSQL cannot store NUL. */
export const text = (maxLength: number) =>
  z
    .string()
    .min(1)
    .refine((value) => isAtMost(value, maxLength), `must have at most ${maxLength} characters`)
    .refine((value) => !hasNul(value), 'must not contain NUL')
    .openapi({ maxLength });

/** The reason of an operator's decision on money; blanks alone are not a reason. */
export const reason = text(MAX_REVIEW_REASON_CHARACTERS).refine((value) => value.trim() !== '', 'must not be blank');

/** `<amount>`: a decimal string with two places. */
export const amount = amountText.transform((value, context): Cents => {
  const parsed = parseAmount(value);
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', message: 'must be a decimal string with two places, for example "5.00"' });
  return z.NEVER;
});

/** An amount in a response. It may be below zero. */
export const signedAmount = z.string().openapi({
  pattern: '^-?(0|[1-9]\\d*)\\.\\d{2}$',
  example: '-1.25',
});

export const positiveAmount = amount
  .refine((value) => value > 0n, 'must be above 0.00')
  .openapi({ description: 'USD, two places, above 0.00.' });

/** A uuid in a body; ids are lower case everywhere. */
export const id = z
  .string()
  .refine(isUuid, 'must be a uuid')
  .transform((value) => value.toLowerCase())
  .openapi({ type: 'string', format: 'uuid' });

/** An ISO 3166-1 country, with an ISO 3166-2 subdivision if there is one: `US-CA`, `GB`. */
export const jurisdiction = z
  .string()
  .regex(/^[A-Z]{2}(?:-[A-Z0-9]{1,3})?$/, 'must be a country or subdivision code, for example "US-CA"');

/** A verification level; 0 means that nothing is known of the player. */
export const verificationLevel = z.int().min(0).max(MAX_VERIFICATION_LEVEL);

/**
 * An e-mail address. It is stored in lower case, so that an address in any case means the same
 * person.
 */
export const email = z
  .email()
  .refine((value) => isAtMost(value, MAX_EMAIL_CHARACTERS), `must have at most ${MAX_EMAIL_CHARACTERS} characters`)
  .openapi({ maxLength: MAX_EMAIL_CHARACTERS })
  .transform(foldAscii);

const MAX_SECRET_CHARACTERS = 1_000;

/**
 * A password or a token that a caller signs in with. A text longer than any valid one is refused as
 * invalid. A text that is too short is treated like any wrong one.
 */
export const signInSecret = z
  .string()
  .refine((value) => isAtMost(value, MAX_SECRET_CHARACTERS), `must have at most ${MAX_SECRET_CHARACTERS} characters`)
  .openapi({ maxLength: MAX_SECRET_CHARACTERS });

const BOUNDS = `${INSTANT_BOUNDS.replace('b', 'B')}.`;
const isWithinBounds = (text: string) => isInBounds(new Date(text));

/**
 * An instant as ISO 8601 with an offset, within the bounds in which everything stored can be read
 * back.
 */
export const instant = z.iso
  .datetime({ offset: true })
  .refine(isWithinBounds, `must lie ${INSTANT_BOUNDS}`)
  .openapi({ description: BOUNDS })
  .transform((value) => new Date(value));

/** A day of the calendar, in the bounds of `instant`. */
export const day = z.iso.date().refine(isWithinBounds, `must lie ${INSTANT_BOUNDS}`).openapi({ description: BOUNDS });

/** How many hours before now a summary covers: 24 if the query does not say. */
export const pastHours = (max: number) =>
  z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(max))
    .default(24)
    .openapi({
      type: 'integer',
      minimum: 1,
      maximum: max,
      default: 24,
      description: 'The hours before now.',
      example: 24,
    });

/** The longest cursor, except that of a followed log of deliveries. */
const MAX_CURSOR_CHARACTERS = 200;

/** A cursor in a query, as `next_cursor` or `head_cursor` showed it. */
export const cursorParameter = text(MAX_CURSOR_CHARACTERS).optional();

/** Query parameters of a list with at most this many rows on a page. */
export const pageOf = (maxRows: number) => ({
  cursor: cursorParameter.openapi({ description: 'The `next_cursor` of the previous page.' }),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(maxRows))
    .optional()
    .openapi({
      type: 'integer',
      minimum: 1,
      maximum: maxRows,
      description: 'The number of rows on a page.',
      example: 50,
    }),
});

/** Query parameters of most lists. */
export const page = pageOf(MAX_PAGE_ROWS);

/** Query parameters of a list that can also be followed. */
export const followedPage = {
  ...page,
  after: text(8_000).optional().openapi({
    description:
      'A `head_cursor`: the answer has the rows that were added after it, oldest first. Not together with `cursor`.',
  }),
};

/** The member `head_cursor` in the response of a list that can be followed. */
export const headCursor = z.string().nullable().openapi({
  description:
    'The `after` that gives the rows added from now on; on a page by `after`, those after its last row. Null on a page by `cursor`.',
});

/** The member `next_cursor` in a response that is a page of a list. */
export const nextCursor = z
  .string()
  .nullable()
  .openapi({ description: 'The `cursor` of the next page; null on the last one.' });

/** The description of the body of a change. */
export const CHANGE_BODY = { description: 'Members that are absent stay unchanged. At least one member is required.' };
