/**
 * The sort key of a row on its board. Its byte order, which is also the order of PostgreSQL's
 * bytea, is the order of ranking.ts: smaller is better. So one index on (round, sort_key) keeps the
 * board sorted, and a rank is a count.
 *
 * | bytes | holds                                                                     |
 * | ----- | ------------------------------------------------------------------------- |
 * | 8     | the score, as its order-preserving form in the metric's direction          |
 * | 1     | 0: there is a tiebreak; 1: there is none, which ranks after every value    |
 * | 8     | the tiebreak, likewise in its direction; zeros when there is none          |
 * | 6     | the instant of the run in milliseconds, big-endian                         |
 * | 16    | the entry id                                                              |
 *
 * The order-preserving form of a double starts from its IEEE 754 bits, big-endian, after -0 became
 * 0. Positive numbers are ordered already, and get the sign bit set, which puts them above the
 * negative ones. Negative numbers are ordered backwards, so all their bits are inverted. If higher
 * is better, all bits of either are inverted once more.
 */
import { isUuid } from '@laurel/values/ids';
import { type BoardRow, type BoardRules, countedTiebreak } from './ranking.ts';
import type { Direction } from './tournament.ts';

const SCORE_AT = 0;
const TIEBREAK_FLAG_AT = 8;
const TIEBREAK_AT = 9;
const INSTANT_AT = 17;
const ENTRY_ID_AT = 23;

/** The length of every sort key. */
export const SORT_KEY_BYTES = 39;

const DOUBLE_BYTES = 8;
const SIGN_BIT = 0x80;
const INSTANT_BYTES = 6;
const MAX_INSTANT = 2 ** (INSTANT_BYTES * 8) - 1;

/**
 * Throws if a number is not finite, the instant is before 1970, or the entry id is not a uuid: no
 * board has such a row.
 */
export function sortKeyOf(row: BoardRow, rules: BoardRules): Buffer {
  const key = Buffer.alloc(SORT_KEY_BYTES);
  writeOrdered(key, SCORE_AT, row.score, rules.direction);
  const tiebreak = countedTiebreak(row, rules);
  if (tiebreak === null || rules.tiebreak === null) key[TIEBREAK_FLAG_AT] = 1;
  else writeOrdered(key, TIEBREAK_AT, tiebreak, rules.tiebreak.direction);
  writeInstant(key, row.at);
  writeEntryId(key, row.entryId);
  return key;
}

function writeOrdered(key: Buffer, offset: number, value: number, direction: Direction): void {
  if (!Number.isFinite(value)) throw new RangeError(`${value} cannot be on a board`);
  // Adding 0 turns -0 into 0 and changes no other number.
  key.writeDoubleBE(value + 0, offset);
  const isNegative = value < 0;
  const mask = isNegative === (direction === 'higher_is_better') ? 0x00 : 0xff;
  key[offset] = (key[offset] ?? 0) ^ mask ^ (isNegative ? 0x00 : SIGN_BIT);
  for (let at = offset + 1; at < offset + DOUBLE_BYTES; at += 1) key[at] = (key[at] ?? 0) ^ mask;
}

function writeInstant(key: Buffer, at: Date): void {
  const milliseconds = at.getTime();
  if (!(milliseconds >= 0 && milliseconds <= MAX_INSTANT)) throw new RangeError('an instant does not fit a sort key');
  key.writeUIntBE(milliseconds, INSTANT_AT, INSTANT_BYTES);
}

function writeEntryId(key: Buffer, entryId: string): void {
  if (!isUuid(entryId)) throw new RangeError('an entry id is not a uuid');
  key.write(entryId.replaceAll('-', ''), ENTRY_ID_AT, 'hex');
}
