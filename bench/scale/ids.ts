/**
 * The ids of libs/values/src/ids.ts as SQL, for statements that write many rows. What is random
 * there comes from a seed here, so that every database computes the same id.
 */
import { LARGE_TURN, msSql, type Shape } from './shape.ts';

/** Returns `newOwnedId` as SQL. The seed is text, unique among ids. */
function ownedIdSql(contestService: 'challenge' | 'tournament', ms: string, seed: string): string {
  const tag = contestService === 'challenge' ? '1' : '2';
  return `(lpad(to_hex(${ms}), 12, '0') || '8${tag}' || overlay(left(md5(${seed}), 18) placing 'a' from 3 for 1))::uuid`;
}

/** Returns `newId` as SQL. */
export function newIdSql(ms: string, seed: string): string {
  return `(lpad(to_hex(${ms}), 12, '0') || '7' || overlay(left(md5(${seed}), 19) placing 'a' from 4 for 1))::uuid`;
}

/** Returns SQL for the digest from which an id of this purpose derives; the id is text. */
export function digestSql(idText: string, purpose: string): string {
  return `encode(sha256((${idText} || ':${purpose}')::bytea), 'hex')`;
}

/** Returns `deriveId` as SQL, or with a tag `deriveOwnedId`, from the digest. */
export function derivedSql(idText: string, digest: string, tag = '0'): string {
  return `(left(${idText}, 13) || '-8${tag}' || ${tailSql(digest, 0)})::uuid`;
}

/** Returns SQL for `hashId` from the digest of its parts. */
export function hashedSql(digest: string): string {
  return `(left(${digest}, 8) || '-' || substr(${digest}, 9, 4) || '-80' || ${tailSql(digest, 12)})::uuid`;
}

function tailSql(digest: string, from: number): string {
  const part = (at: number, length: number) => `substr(${digest}, ${from + at}, ${length})`;
  const variant = `translate(${part(3, 1)}, '0123456789abcdef', '89ab89ab89ab89ab')`;
  return `${part(1, 2)} || '-' || ${variant} || ${part(4, 3)} || '-' || ${part(7, 12)}`;
}

/** Returns SQL for the digest of parts, each prefixed with its length, as `hashId` encodes them. */
export function partsDigestSql(...parts: readonly string[]): string {
  return `encode(sha256((${parts.map((part) => `length(${part}) || ':' || ${part}`).join(' || ')})::bytea), 'hex')`;
}

export function attemptIdSql(contestService: 'challenge' | 'tournament', ms: string, number: string): string {
  return ownedIdSql(contestService, ms, `'attempt ' || ${number}`);
}

/**
 * Returns SQL for when an account was created: before the year for a player, and before the entry
 * into the large round for any other account.
 */
export function accountCreatedMsSql(shape: Shape, account: string): string {
  const { players, startMs } = shape;
  return `(case when ${account} < ${players} then ${startMs} - (${players} - ${account}) * 1000::bigint
    else ${msSql(shape, `${LARGE_TURN * players} + ${account}`)} - 60000 end)`;
}

export function accountIdSql(shape: Shape, account: string): string {
  return newIdSql(accountCreatedMsSql(shape, account), `'account ' || ${account}`);
}

/** Returns SQL for the id of a round, by the number of its first attempt. */
export function roundIdSql(shape: Shape, firstAttempt: string): string {
  return newIdSql(msSql(shape, firstAttempt), `'round ' || (${firstAttempt})`);
}

export function playerRefSql(account: string): string {
  return `'player-' || ${account}`;
}
