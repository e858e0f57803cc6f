/**
 * What the log of operator actions records of a request or a resource: JSON text without secrets,
 * of bounded length. A route that takes a secret lists which members of its body may be recorded.
 * As a second safeguard, members that are named like a secret are redacted.
 */
import { hash } from 'node:crypto';

const SECRET_NAME = /password|secret|token|pepper|_key$|^key$/i;
const REDACTED = '[redacted]';
/**
 * The limit is above the size of any resource except a purse of thousands of ranks, for which the
 * log records a digest.
 */
const MAX_BYTES = 16 * 1024;

/** The value as JSON text for the log; null if there is none. */
export function recordOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value, (name, member) => (SECRET_NAME.test(name) ? REDACTED : member));
  const bytes = Buffer.byteLength(text);
  return bytes <= MAX_BYTES ? text : JSON.stringify({ omitted_bytes: bytes, sha256: hash('sha256', text) });
}

/** The members of a body that may be recorded: all of them if `names` is undefined. */
export function recordedMembersOf(body: unknown, names: readonly string[] | undefined): unknown {
  if (names === undefined || typeof body !== 'object' || body === null) return names === undefined ? body : undefined;
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}
