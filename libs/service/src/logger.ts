/**
 * Logs one JSON line an event, on standard output. It redacts secrets at any depth, whichever code
 * logs them.
 */
import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogLevel } from './config.ts';
import { standardOutput } from './log-output.ts';

export type { Logger } from 'pino';

const REDACTED = '[redacted]';

const SECRET_KEYS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'email',
  'evidence',
  'operator_token',
  'password',
  'set-cookie',
  'signing_secret',
  'token',
  'x-api-key',
]);

// No logged object is this deep; the limit ends the walk through a cycle.
const MAX_DEPTH = 8;

/**
 * Secrets and e-mail addresses inside text, such as a database error's message. Bounded lengths
 * keep the match linear.
 */
const SECRET_TEXT =
  /sk_(?:test|live)_[A-Za-z0-9_]{1,128}|whsec_[A-Za-z0-9]{1,128}|[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}/g;

/** The logger of a service. Writes are synchronous, so that an exit loses no line. */
export function createLogger(options: {
  service: string;
  level: LogLevel;
  /** The stream that gets the lines; standard output unless a test reads them. */
  destination?: DestinationStream;
}): Logger {
  const logger = pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: stdTimeFunctions.isoTime,
      serializers: {
        err: (error: Error) => redact(stdSerializers.err(error)),
        // Only serializers see the fields of a child logger.
        ...Object.fromEntries([...SECRET_KEYS].map((key) => [key, () => REDACTED])),
      },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
      hooks: { streamWrite: redactText },
    },
    options.destination ?? standardOutput,
  );
  if (options.destination === undefined) {
    standardOutput.onRecovered = (lines) => logger.warn({ lines }, 'the log could not be written and lacks lines');
  }
  return logger;
}

/** The value with the values of secret keys redacted; the same object if there are none. */
function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  // A serializer handles an Error; a Date or a Buffer has no secret keys.
  if (value instanceof Error || value instanceof Date || ArrayBuffer.isView(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [key, member] of Object.entries(value)) {
    const kept = SECRET_KEYS.has(key.toLowerCase()) ? REDACTED : redact(member, depth + 1);
    if (kept === member) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[key] = kept;
  }
  return copy ?? value;
}

function redactText(line: string): string {
  return line.includes('@') || line.includes('sk_') || line.includes('whsec_')
    ? line.replace(SECRET_TEXT, REDACTED)
    : line;
}
