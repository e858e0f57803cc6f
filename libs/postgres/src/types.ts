import pg from 'pg';

/**
 * How values are decoded, for each connection rather than the whole process: int8 as bigint,
 * numeric as its exact text, timestamptz as Date, date as 'YYYY-MM-DD', bytea as Buffer, json and
 * jsonb as text; arrays of these alike. `pg` decodes everything else.
 */
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && PARSERS.get(oid)) || pg.types.getTypeParser(oid, format),
};

type Parser = (text: string) => unknown;

const TEXT_ARRAY: number = 1009;
const parseTextArray: (text: string) => readonly (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY, 'text');
const parseAnyInstant: (text: string) => unknown = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text');

const asText: Parser = (text) => text;

/**
 * Servers print UTC as `+00`. `Date` parses that form fast, with `T` and `Z`; a year of another
 * length, or one before year 1, takes the slow way.
 *
 * Throws RangeError for `infinity` and for an instant beyond the range of `Date`: a rule that
 * compares an invalid `Date` would fail open, so no column is ever read as one.
 */
const parseInstant: Parser = (text) => {
  if (text.endsWith('+00')) {
    const instant = new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
    if (!Number.isNaN(instant.getTime())) return instant;
  }
  const instant = parseAnyInstant(text);
  if (instant instanceof Date && !Number.isNaN(instant.getTime())) return instant;
  throw new RangeError(`${text} is not an instant that a Date can hold`);
};

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [20, BigInt],
  [1016, arrayOf(BigInt)],
  [1700, asText],
  [1231, arrayOf(asText)],
  [1184, parseInstant],
  [1185, arrayOf(parseInstant)],
  [1082, asText],
  [1182, arrayOf(asText)],
  [114, asText],
  [199, arrayOf(asText)],
  [3802, asText],
  [3807, arrayOf(asText)],
]);

function arrayOf(parse: Parser): Parser {
  return (text) => parseTextArray(text).map((item) => (item === null ? null : parse(item)));
}
