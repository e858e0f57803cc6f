/**
 * The shape of an API key: `sk_test_` or `sk_live_`, then 32 random bytes as 43 base62 characters,
 * then 6 characters of checksum over all of that. A typo is detected without a look-up, and a
 * secret scanner can distinguish a key from noise. Only a keyed hash is ever stored
 * (docs/contract/rules.md, "Tenancy and keys").
 */
import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '@laurel/values/tenant';

export type ApiKeyEnvironment = Environment;

export type MintedApiKey = {
  /** The key is shown once and stored nowhere. */
  readonly key: string;
  /**
   * The beginning of the key: the environment and the first 4 random characters. A person can
   * distinguish keys by this text, and it reveals 24 of 256 bits.
   */
  readonly prefix: string;
  readonly last4: string;
};

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(ALPHABET.length);
const RANDOM_BYTES = 32;
/**
 * The least number of base62 characters that can write 32 bytes: 62^43 is the first power of 62
 * above 2^256.
 */
const RANDOM_CHARACTERS = 43;
/**
 * The least number of base62 characters that can write a CRC-32: 62^6 is the first power of 62
 * above 2^32.
 */
const CHECKSUM_CHARACTERS = 6;
const MARK_CHARACTERS = 'sk_test_'.length;
const SHAPE = new RegExp(`^sk_(?:test|live)_[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** A new key for one environment. `random` is for tests. */
export function mintApiKey(environment: ApiKeyEnvironment, random: Buffer = randomBytes(RANDOM_BYTES)): MintedApiKey {
  const body = `sk_${environment}_${toBase62(BigInt(`0x${random.toString('hex')}`), RANDOM_CHARACTERS)}`;
  const key = body + checksumOf(body);
  return { key, prefix: key.slice(0, MARK_CHARACTERS + 4), last4: key.slice(-4) };
}

/** Whether a text has the shape and the checksum of a key. */
export function isWellFormedApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  return text.slice(-CHECKSUM_CHARACTERS) === checksumOf(text.slice(0, -CHECKSUM_CHARACTERS));
}

/** The environment that a text's prefix names; null if it names none. */
export function environmentOf(text: string): ApiKeyEnvironment | null {
  if (text.startsWith('sk_test_')) return 'test';
  if (text.startsWith('sk_live_')) return 'live';
  return null;
}

/** What is stored of a key: HMAC-SHA-256 under the server's pepper, 32 bytes. */
export function hashApiKey(pepper: Buffer, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/**
 * CRC-32 catches every change confined to 32 consecutive bits, so every wrong character and every
 * swap of neighbours.
 */
function checksumOf(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_CHARACTERS);
}

function toBase62(value: bigint, characters: number): string {
  let text = '';
  for (let rest = value; text.length < characters; rest /= BASE) text = ALPHABET.charAt(Number(rest % BASE)) + text;
  return text;
}
