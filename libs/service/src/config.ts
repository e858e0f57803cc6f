/**
 * Reads the configuration from environment variables once, at the start, and reports all validation
 * issues together.
 */
import { IN_PROCESS } from '@laurel/grpc';
import { SAMPLERS, type TracingOptions } from '@laurel/telemetry';
import { z } from 'zod';

/**
 * All validation issues of an environment, each as `NAME: what is wrong`. They never include
 * values, which may be secrets.
 */
export class ConfigError extends Error {
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(issues.join('\n'));
    this.name = 'ConfigError';
    this.issues = issues;
  }
}

/**
 * The configuration of this process. If it is invalid, prints all validation issues, one a line,
 * and exits 1.
 */
export function loadConfig<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv = process.env,
): z.output<Schema> {
  return exitIfInvalid(() => parseConfig(schema, env));
}

/** Reads a configuration. If it is invalid, prints all validation issues and exits 1. */
export function exitIfInvalid<Config>(read: () => Config): Config {
  try {
    return read();
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
      // A rule over several variables has its own message for a missing one.
      const isUnset = issue.code !== 'custom' && issue.path.length === 1 && !(name in set);
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

/** A TCP port; with 0 the system chooses a free one. */
export const port = wholeNumber(0, 65_535, 'must be a port, 0 to 65535');

export const positiveInt = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'must be a whole number of at least 1');

/** Parses milliseconds, in the range of a timer. */
export const durationMs = wholeNumber(1, MAX_TIMER_MS, `must be whole milliseconds, 1 to ${MAX_TIMER_MS}`);

const CENTURY_SECONDS = 100 * 366 * 86_400;

/** A span by which an instant is moved: at most a century, so that the sum is an instant too. */
function span(unitSeconds: number) {
  const max = Math.floor(CENTURY_SECONDS / unitSeconds);
  return positiveInt.refine((value) => value <= max, `must be at most ${max}`);
}

export const spanSeconds = span(1);
export const spanMinutes = span(60);
export const spanHours = span(3_600);
export const spanDays = span(86_400);

/** Parses a PostgreSQL URL. */
export const databaseUrl = z
  .string()
  .refine(isDatabaseUrl, 'must be a URL like postgres://user:password@host:5432/database');

const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

/** The role in the service's database URL. */
export const databaseRoleSettings = {
  /**
   * Set this where one role owns the database, migrates and runs. Otherwise the service refuses to
   * start with more privileges than it needs to run.
   */
  ALLOW_PRIVILEGED_DATABASE_ROLE: flag.default(false),
};

/**
 * The address of NATS and the user: one URL, or the servers of a cluster separated by commas. User
 * and password precede the host, as in `nats://challenge:secret@host:4222`.
 */
export const natsUrl = z
  .string()
  .regex(/^nats:\/\/[^\s,/]+:\d{1,5}(?:,nats:\/\/[^\s,/]+:\d{1,5})*$/, 'must be nats://host:port, or several of them');

/** A TCP port for gRPC; `in-process` where only services of the same process are callers. */
export const grpcPort = z.union([z.literal(IN_PROCESS), port], 'must be a port, 0 to 65535');

/**
 * `host:port`, or a gRPC target such as `dns:///host:port` or
 * `ipv4:10.0.0.1:50051,10.0.0.2:50051`.
 */
const reachable = z
  .string()
  .regex(
    /^(?:[a-z]+:\/{2,3})?[^\s/:]+:\d{1,5}$|^(?:[a-z]+:\/{2,3})?\[[0-9a-f:]+\]:\d{1,5}$|^ipv4:[\d.]+:\d{1,5}(?:,[\d.]+:\d{1,5})*$/i,
    'must be host:port',
  );

/** The address of another service; `in-process` for one of the same process. */
export const address = z.union([z.literal(IN_PROCESS), reachable], 'must be host:port');

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The lowest severity that is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

export const logLevel = z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`);

function isDatabaseUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hostname !== '' && url.pathname.length > 1;
}

const SECRET_KEY_BYTES = 32;

/**
 * The key; null unless the text is 32 bytes in base64. Node also accepts the URL-safe alphabet, and
 * skips white space.
 */
export function parseSecretKey(text: string): Buffer | null {
  const key = Buffer.from(text, 'base64');
  return key.length === SECRET_KEY_BYTES ? key : null;
}

/** A key to encrypt, sign or hash with: 32 random bytes. For Ed25519 they seed the private key. */
export const secretKey = z.string().transform((text, context) => {
  const key = parseSecretKey(text);
  if (key !== null) return key;
  context.addIssue(`must be ${SECRET_KEY_BYTES} bytes in base64`);
  return z.NEVER;
});

const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

/**
 * The certificate of a process on the channels between services, as paths of PEM files: the
 * certificate, its key, and the authority whose certificates it accepts. All three or none.
 */
export const channelSettings = {
  GRPC_TLS_CERT_FILE: z.string().optional(),
  GRPC_TLS_KEY_FILE: z.string().optional(),
  GRPC_TLS_CA_FILE: z.string().optional(),
  /** How often the three are read again. */
  GRPC_TLS_RELOAD_MS: durationMs.default(10_000),
};

type ChannelSettings = z.output<z.ZodObject<typeof channelSettings>>;

const TLS_FILES = ['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE'] as const;

/**
 * Checks certificates, for `superRefine`. Without them a server listens on its own machine only:
 * every client that reaches it may move money.
 */
export function checkChannels(
  settings: ChannelSettings & { readonly GRPC_HOST?: string },
  context: z.core.$RefinementCtx,
): void {
  const missing = TLS_FILES.filter((name) => settings[name] === undefined);
  const addIssue = (message: string) => {
    for (const name of missing) context.addIssue({ code: 'custom', path: [name], message });
  };
  if (missing.length === 1 || missing.length === 2) addIssue('must be set where one of the three files is');
  if (missing.length === 3 && !LOOPBACK.test(settings.GRPC_HOST ?? 'localhost'))
    addIssue('must be set where GRPC_HOST is not this machine alone');
}

const httpUrl = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https URL');

const ratio = z
  .string()
  .regex(/^(?:0|1|[01]?\.\d{1,15})$/, 'must be a number from 0 to 1')
  .transform(Number)
  .refine((value) => value <= 1, 'must be a number from 0 to 1');

/**
 * Settings of every service about traces, by OpenTelemetry's names and defaults. OpenTelemetry
 * itself reads OTEL_EXPORTER_OTLP_* (headers, timeout, compression) and OTEL_RESOURCE_ATTRIBUTES.
 */
export const tracingSettings = {
  /** The OTLP endpoint of a collector over HTTP, as `http://collector:4318`. Unset: no traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`).optional(),
  /** The share for the ratio samplers: 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: ratio.optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
};

export type TracingSettings = z.output<z.ZodObject<typeof tracingSettings>>;

export function tracingOptionsOf(settings: TracingSettings, name: string): Omit<TracingOptions, 'onError'> {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  return {
    serviceName: settings.OTEL_SERVICE_NAME ?? name,
    url: endpoint && `${endpoint.replace(/\/$/, '')}/v1/traces`,
    sampler: settings.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
    ratio: settings.OTEL_TRACES_SAMPLER_ARG ?? 1,
  };
}
