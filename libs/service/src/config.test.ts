import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  address,
  ConfigError,
  channelSettings,
  checkChannels,
  databaseUrl,
  durationMs,
  logLevel,
  natsUrl,
  parseConfig,
  port,
  positiveInt,
  spanDays,
  spanHours,
  spanMinutes,
  spanSeconds,
  tracingOptionsOf,
  tracingSettings,
} from './config.ts';

const schema = z.object({
  LOG_LEVEL: logLevel.default('info'),
  GRPC_PORT: port,
  POOL: positiveInt.default(8),
  SWEEP_INTERVAL_MS: durationMs.default(1_000),
  DATABASE_URL: databaseUrl,
  WALLET_ADDRESS: address,
  NATS_URL: natsUrl.optional(),
});

const complete = {
  GRPC_PORT: '0',
  DATABASE_URL: 'postgres://laurel:secret@127.0.0.1:5432/wallet',
  WALLET_ADDRESS: '127.0.0.1:7001',
};

function issuesOf(env: NodeJS.ProcessEnv, of: z.ZodType = schema): readonly string[] {
  try {
    parseConfig(of, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}

test('a complete environment is read, with defaults for unset or empty variables', () => {
  expect(parseConfig(schema, { ...complete, POOL: '', LOG_LEVEL: 'debug' })).toEqual({
    LOG_LEVEL: 'debug',
    GRPC_PORT: 0,
    POOL: 8,
    SWEEP_INTERVAL_MS: 1_000,
    DATABASE_URL: complete.DATABASE_URL,
    WALLET_ADDRESS: complete.WALLET_ADDRESS,
  });
});

test('all validation issues of an environment are reported together', () => {
  const issues = issuesOf({
    LOG_LEVEL: 'loud',
    POOL: '0',
    SWEEP_INTERVAL_MS: '99999999999',
    DATABASE_URL: 'mysql://u:hunter2@h/d',
    WALLET_ADDRESS: 'wallet',
  });
  expect(issues).toEqual([
    'LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent',
    'GRPC_PORT: is required',
    'POOL: must be a whole number of at least 1',
    'SWEEP_INTERVAL_MS: must be whole milliseconds, 1 to 2147483647',
    'DATABASE_URL: must be a URL like postgres://user:password@host:5432/database',
    'WALLET_ADDRESS: must be host:port',
  ]);
});

test('numbers of the configuration are plain digits in their range', () => {
  for (const wrong of ['-1', '65536', '1.5', '0x10', ' 80', '1e3', 'eighty']) {
    expect(issuesOf({ ...complete, GRPC_PORT: wrong })).toEqual(['GRPC_PORT: must be a port, 0 to 65535']);
  }
  expect(issuesOf({ ...complete, GRPC_PORT: '65535' })).toEqual([]);
});

test('a duration in the configuration is at most a century', () => {
  const spans = z.object({ SECONDS: spanSeconds, MINUTES: spanMinutes, HOURS: spanHours, DAYS: spanDays });
  const most = { SECONDS: 3_162_240_000, MINUTES: 52_704_000, HOURS: 878_400, DAYS: 36_600 };
  const env = (add: number) => Object.fromEntries(Object.entries(most).map(([name, max]) => [name, String(max + add)]));
  expect(parseConfig(spans, env(0))).toEqual(most);
  expect(issuesOf(env(1), spans)).toEqual(Object.entries(most).map(([name, max]) => `${name}: must be at most ${max}`));
});

test('an address is a host and a port, or a gRPC target', () => {
  for (const right of ['wallet:7001', '10.0.0.1:80', '[::1]:7001', 'dns:///wallet.laurel:7001']) {
    expect(issuesOf({ ...complete, WALLET_ADDRESS: right })).toEqual([]);
  }
  for (const wrong of ['wallet', ':7001', 'wallet:', 'wallet:port', 'http://wallet', 'a b:1']) {
    expect(issuesOf({ ...complete, WALLET_ADDRESS: wrong })).toEqual(['WALLET_ADDRESS: must be host:port']);
  }
});

test('NATS_URL has one URL or several, each with its port', () => {
  for (const right of [
    'nats://127.0.0.1:4222',
    'nats://[::1]:4222',
    'nats://a:4222,nats://user:secret@b.laurel:4222',
  ]) {
    expect(issuesOf({ ...complete, NATS_URL: right })).toEqual([]);
  }
  for (const wrong of [
    '127.0.0.1:4222',
    'nats://a',
    'nats://:4222x',
    'http://a:4222',
    'nats://a:4222,',
    'nats://a:4222, b',
  ]) {
    expect(issuesOf({ ...complete, NATS_URL: wrong })).toEqual([
      'NATS_URL: must be nats://host:port, or several of them',
    ]);
  }
});

const channels = z
  .object({ GRPC_HOST: z.string().default('127.0.0.1'), ...channelSettings })
  .superRefine(checkChannels);
const FILES = { GRPC_TLS_CERT_FILE: '/c', GRPC_TLS_KEY_FILE: '/k', GRPC_TLS_CA_FILE: '/a' };

test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost', ''])(
  'a server on %s may do without certificates, or has all three files',
  (host) => {
    expect(parseConfig(channels, { GRPC_HOST: host })).toMatchObject({ GRPC_TLS_RELOAD_MS: 10_000 });
    expect(parseConfig(channels, { GRPC_HOST: host, ...FILES })).toMatchObject(FILES);
  },
);

test.each(['0.0.0.0', '::', '10.0.0.1', 'wallet', 'localhost.example'])(
  'a server on %s needs its certificate, key and authority',
  (host) => {
    expect(issuesOf({ GRPC_HOST: host }, channels)).toEqual(
      Object.keys(FILES).map((name) => `${name}: must be set where GRPC_HOST is not this machine alone`),
    );
    expect(parseConfig(channels, { GRPC_HOST: host, ...FILES })).toMatchObject(FILES);
  },
);

test('the certificate files are all three required, or none', () => {
  for (const missing of Object.keys(FILES)) {
    expect(issuesOf({ ...FILES, [missing]: '' }, channels)).toEqual([
      `${missing}: must be set where one of the three files is`,
    ]);
  }
});

test('tracing is configured by the names and defaults of OpenTelemetry', () => {
  const read = (env: NodeJS.ProcessEnv) => tracingOptionsOf(parseConfig(z.object(tracingSettings), env), 'wallet');
  const off = { serviceName: 'wallet', url: undefined, sampler: 'parentbased_always_on', ratio: 1 };
  expect(read({})).toEqual(off);
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' })).toEqual({
    ...off,
    url: 'http://collector:4318/v1/traces',
  });
  expect(
    read({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01', OTEL_SERVICE_NAME: 'w' }),
  ).toEqual({ ...off, serviceName: 'w', sampler: 'traceidratio', ratio: 0.01 });
  for (const wrong of ['1.1', '-0.1', 'half', '1e-2']) {
    expect(() => read({ OTEL_TRACES_SAMPLER_ARG: wrong })).toThrow('must be a number from 0 to 1');
  }
  expect(() => read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })).toThrow('must be an http or https URL');
});
