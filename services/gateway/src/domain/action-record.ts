/**
 * What the log of operator actions records of a request and of a resource: JSON text without secrets, and of a bounded length. Routes that take
 * a secret list the members of their bodies that may be recorded; redacting members that have the name of a secret is the second safeguard.
 */
import { hash } from 'node:crypto';

const SECRET_NAME = /password|secret|token|pepper|_key$|^key$/i;
const REDACTED = '[redacted]';
/** Longer than any resource except a purse of thousands of ranks, of which the log then has the digest. */
const MAX_BYTES = 16 * 1024;

/** JSON text of the value for the log; null for nothing. */
export function recordOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value, (name, member) => (SECRET_NAME.test(name) ? REDACTED : member));
  const bytes = Buffer.byteLength(text);
  return bytes <= MAX_BYTES ? text : JSON.stringify({ omitted_bytes: bytes, sha256: hash('sha256', text) });
}

/** The members of a body that may be recorded; all of them without `names`. */
export function recordedMembersOf(body: unknown, names: readonly string[] | undefined): unknown {
  if (names === undefined || typeof body !== 'object' || body === null) return names === undefined ? body : undefined;
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}
