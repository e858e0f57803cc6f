/**
 * Passwords, hashed by Argon2id in its own text form, with salt and parameters. Only the hash is
 * stored. Neither the password nor the hash is ever logged.
 */
import { hash, verify } from '@node-rs/argon2';

/**
 * Argon2id. The package names this value in a const enum, which type stripping does not support.
 */
const ARGON2ID = 2;

/** A set of parameters that OWASP recommends: 19 MiB, two passes, one lane. */
const HASHING = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Characters as a person counts them. The maximum limits the cost of hashing. */
export const MIN_PASSWORD_CHARACTERS = 12;
export const MAX_PASSWORD_CHARACTERS = 128;

export function hashPassword(password: string): Promise<string> {
  return hash(normalised(password), HASHING);
}

export function verifyPassword(password: string, passwordHash: string): Promise<boolean> {
  return verify(passwordHash, normalised(password));
}

/** The password in one Unicode form: keyboards may encode the same letter differently. */
function normalised(password: string): string {
  return password.normalize('NFKC');
}
