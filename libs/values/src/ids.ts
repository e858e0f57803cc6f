/**
 * Identifiers, all lower-case uuids.
 *
 * - A new id is a UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits, so that indexes
 *   grow at one end.
 * - A tagged id is a UUIDv8 whose first digit after the version is the tag: `0` none, `1` an
 *   attempt of the challenge service, `2` an attempt of the tournament service. An attempt id thus
 *   routes to its service without a lookup.
 * - A derived id is a UUIDv8 computed from another id and a purpose. A retry derives the same id,
 *   so every write of an operation happens at most once. It keeps the source's 48 bits of time, so
 *   that both are close in an index.
 */
import { hash, randomUUID } from 'node:crypto';

/** The service that owns an attempt. */
export type ContestServiceName = 'challenge' | 'tournament';

const OWNER_TAG: Record<ContestServiceName, string> = { challenge: '1', tournament: '2' };
const NO_OWNER_TAG = '0';
const OWNER_BY_TAG: ReadonlyMap<string, ContestServiceName> = new Map([
  [OWNER_TAG.challenge, 'challenge'],
  [OWNER_TAG.tournament, 'tournament'],
]);

const VERSION_INDEX = 14;
const TAG_INDEX = 15;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether the text is a uuid of any version in its canonical form, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Makes a UUIDv7. */
export function newId(now?: Date): string {
  // In a randomUUID, the three digits after the version and all digits after the variant are
  // random. Node makes it from a pool of random bytes, so it is cheap.
  const random = randomUUID();
  return `${timePrefix(now)}-7${random.slice(15)}`;
}

/** When the id was made: the time with which a UUIDv7 and a UUIDv8 of `newOwnedId` begin. */
export function instantOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/**
 * The least id of any version that begins with the instant. An instant that does not fit into 48
 * bits counts as the greatest one that does.
 */
export function leastIdAt(instant: Date): string {
  const time = instant.getTime();
  const digits = Math.min(time, MAX_TIME).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** A UUIDv8 with a time prefix, tagged with the service that owns the attempt. */
export function newOwnedId(owner: ContestServiceName, now?: Date): string {
  const random = randomUUID();
  return `${timePrefix(now)}-8${OWNER_TAG[owner]}${random.slice(16)}`;
}

/**
 * The contest service that the id's tag names; null if the id names none, and for text that is not
 * an id.
 */
export function contestServiceOf(id: string): ContestServiceName | null {
  if (id[VERSION_INDEX] !== '8' || !isUuid(id)) return null;
  return OWNER_BY_TAG.get(id[TAG_INDEX] ?? '') ?? null;
}

/**
 * Derives the id that has this purpose for the source. The same arguments always give the same id.
 */
export function deriveId(sourceId: string, purpose: string): string {
  return derive(sourceId, purpose, NO_OWNER_TAG);
}

/** Derives an id like deriveId, tagged with an owner. */
export function deriveOwnedId(sourceId: string, purpose: string, owner: ContestServiceName): string {
  return derive(sourceId, purpose, OWNER_TAG[owner]);
}

/**
 * Derives an id from the parts. The same parts always give the same id. Each part is hashed with
 * its length before it, so that different lists of parts never hash the same text.
 */
export function hashId(...parts: string[]): string {
  let text = '';
  for (const part of parts) text += `${part.length}:${part}`;
  const digest = hash('sha256', text);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${NO_OWNER_TAG}${digestTail(digest, 12)}`;
}

/**
 * The id of the transfer that charges an attempt's fee. The wallet decides each transfer id once
 * and for ever. If the id became a tombstone and the attempt is begun again, its fee needs another
 * id, which the next generation derives. Almost every attempt has generation 0.
 */
export function feeTransferId(attemptId: string, generation = 0): string {
  return deriveId(attemptId, generation === 0 ? 'fee' : `fee:${generation}`);
}

/** Returns the id of the transfer that refunds a fee. */
export function refundTransferId(feeTransfer: string): string {
  return deriveId(feeTransfer, 'refund');
}

/** The id of the signed receipt of the outcome that an operation records. */
export function receiptIdOf(operationId: string): string {
  return deriveId(operationId, 'receipt');
}

/**
 * The id of the award that an attempt wins. The id does not depend on the operation that reports
 * the win, so a service that has lost the operation still finds the payout.
 */
export function awardIdOf(attemptId: string, owner: ContestServiceName): string {
  return deriveOwnedId(attemptId, 'award', owner);
}

/** The id of the transfer that pays an award. */
export function awardTransferId(awardId: string): string {
  return deriveId(awardId, 'payout');
}

const MAX_TIME = 2 ** 48 - 1;
const LOW_TIMES = 2 ** 16;
/**
 * Caches the text of the upper 32 of a timestamp's 48 bits. These bits change every 65 seconds, and
 * to print such a large number each time is slow.
 */
let lastHigh = { time: Number.NaN, text: '' };

function timePrefix(now: Date | undefined): string {
  const time = now === undefined ? Date.now() : now.getTime();
  const high = Math.floor(time / LOW_TIMES);
  if (high !== lastHigh.time) lastHigh = { time: high, text: high.toString(16).padStart(8, '0') };
  const low = (LOW_TIMES + (time - high * LOW_TIMES)).toString(16);
  return `${lastHigh.text}-${low.slice(1)}`;
}

function derive(sourceId: string, purpose: string, tag: string): string {
  if (!isUuid(sourceId)) throw new TypeError('an id can only be derived from a uuid');
  const source = sourceId.toLowerCase();
  const digest = hash('sha256', `${source}:${purpose}`);
  return `${source.slice(0, 13)}-8${tag}${digestTail(digest, 0)}`;
}

/**
 * The end of an id, after the tag: two digits of the digest, the variant with two bits of the
 * digest, and fifteen more digits of it.
 */
function digestTail(digest: string, from: number): string {
  const variant = '89ab'[Number.parseInt(digest.slice(from + 2, from + 3), 16) & 3];
  return `${digest.slice(from, from + 2)}-${variant}${digest.slice(from + 3, from + 6)}-${digest.slice(from + 6, from + 18)}`;
}
