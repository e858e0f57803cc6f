/** Configuration comes from environment variables, is checked once at start, and every fault is told at once. */
import { SAMPLERS, type TracingOptions } from '@laurel/telemetry';
import { z } from 'zod';

/** Every fault of an environment, each as `NAME: what is wrong`. Values are never told: they may be secrets. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The configuration of this process, or an end of it: exits 1 after printing every fault, one a line. */
export function loadConfig<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv = process.env,
): z.output<Schema> {
  try {
    return parseConfig(schema, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** Reads the schema's variables. An empty variable counts as unset. Throws ConfigError. */
export function parseConfig<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.output<Schema> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = schema.safeParse(set);
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.map((issue) => {
      const name = issue.path.map(String).join('.') || 'environment';
      const isUnset = issue.path.length === 1 && !(name in set);
      return `${name}: ${isUnset ? 'is required' : issue.message}`;
    }),
  );
}

const MAX_TIMER_MS = 2 ** 31 - 1;

function wholeNumber(min: number, max: number, message: string) {
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** A TCP port; 0 asks the system for a free one. */
export const port = wholeNumber(0, 65_535, 'must be a port, 0 to 65535');

export const positiveInt = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'must be a whole number of at least 1');

/** Milliseconds, as a timer takes them. */
export const durationMs = wholeNumber(1, MAX_TIMER_MS, `must be whole milliseconds, 1 to ${MAX_TIMER_MS}`);

/** A PostgreSQL URL. */
export const databaseUrl = z
  .string()
  .refine(isDatabaseUrl, 'must be a URL like postgres://user:password@host:5432/database');

/** Where NATS is: one URL, or several servers of a cluster separated by commas. */
export const natsUrl = z
  .string()
  .regex(/^nats:\/\/[^\s,/]+:\d{1,5}(?:,nats:\/\/[^\s,/]+:\d{1,5})*$/, 'must be nats://host:port, or several of them');

/** The address of another service: `host:port`, or a gRPC target such as `dns:///host:port` or `ipv4:10.0.0.1:50051,10.0.0.2:50051`. */
export const address = z
  .string()
  .regex(
    /^(?:[a-z]+:\/{2,3})?[^\s/:]+:\d{1,5}$|^(?:[a-z]+:\/{2,3})?\[[0-9a-f:]+\]:\d{1,5}$|^ipv4:[\d.]+:\d{1,5}(?:,[\d.]+:\d{1,5})*$/i,
    'must be host:port',
  );

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** From which severity on lines are logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

export const logLevel = z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`);

function isDatabaseUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== '' && url.pathname.length > 1;
}

const SEED_BYTES = 32;

/** The secret half of an Ed25519 key, as a Buffer of 32 bytes. */
export const signingSeed = z.base64('must be base64').transform((text, context) => {
  const seed = Buffer.from(text, 'base64');
  if (seed.length === SEED_BYTES) return seed;
  context.addIssue(`must be ${SEED_BYTES} bytes in base64`);
  return z.NEVER;
});

const httpUrl = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https URL');

const ratio = z
  .string()
  .regex(/^(?:0|1|[01]?\.\d{1,15})$/, 'must be a number from 0 to 1')
  .transform(Number)
  .refine((value) => value <= 1, 'must be a number from 0 to 1');

/**
 * What every service takes on traces; the names and defaults are OpenTelemetry's. How a collector is spoken to (its headers, time and
 * compression) and what else a process says of itself, OpenTelemetry reads itself: OTEL_EXPORTER_OTLP_* and OTEL_RESOURCE_ATTRIBUTES.
 */
export const tracingSettings = {
  /** Where an OpenTelemetry collector takes OTLP over HTTP, as `http://collector:4318`. Without it there are no traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`).optional(),
  /** For the samplers that take a share: 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: ratio.optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
};

export type TracingSettings = z.output<z.ZodObject<typeof tracingSettings>>;

export function tracingOptionsOf(settings: TracingSettings, name: string): Omit<TracingOptions, 'onFault'> {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  return {
    serviceName: settings.OTEL_SERVICE_NAME ?? name,
    url: endpoint && `${endpoint.replace(/\/$/, '')}/v1/traces`,
    sampler: settings.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
    ratio: settings.OTEL_TRACES_SAMPLER_ARG ?? 1,
  };
}
