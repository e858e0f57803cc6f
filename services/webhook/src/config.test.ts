import { parseConfig } from '@laurel/service';
import { configIssuesOf } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { webhookConfigSchema } from './config.ts';

const REQUIRED = {
  GRPC_PORT: '50051',
  WEBHOOK_DATABASE_URL: 'postgres://laurel@localhost:5432/webhook',
  NATS_URL: 'nats://localhost:4222',
  WEBHOOK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

const issuesOf = (environment: Record<string, string>) => configIssuesOf(webhookConfigSchema, environment);

describe('the webhook service’s configuration', () => {
  it('the webhook service’s configuration has the contract’s values as defaults', () => {
    expect(parseConfig(webhookConfigSchema, REQUIRED)).toEqual({
      LOG_LEVEL: 'info',
      GRPC_TLS_RELOAD_MS: 10_000,
      GRPC_HOST: '127.0.0.1',
      GRPC_PORT: 50_051,
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: 0,
      WEBHOOK_DATABASE_URL: REQUIRED.WEBHOOK_DATABASE_URL,
      ALLOW_PRIVILEGED_DATABASE_ROLE: false,
      WEBHOOK_DATABASE_POOL: 8,
      NATS_URL: REQUIRED.NATS_URL,
      EVENTS_PREFIX: 'laurel',
      EVENTS_REPLICAS: 1,
      WEBHOOK_SECRET_KEY: Buffer.alloc(32, 1),
      WEBHOOK_SECRET_KEY_VERSION: 1,
      WEBHOOK_SECRET_KEYS_ACCEPTED: [],
      WEBHOOK_TIMEOUT_MS: 5_000,
      WEBHOOK_RETRY_DELAYS_SECONDS: [60_000, 300_000],
      WEBHOOK_SWEEP_MS: 30_000,
      WEBHOOK_SENDS_PER_ENDPOINT: 4,
      WEBHOOK_SENDS: 128,
      WEBHOOK_LOG_RETENTION_DAYS: 30,
      EGRESS_ALLOW_CIDRS: [],
    });
  });

  it('the webhook service’s configuration lists every missing variable', () => {
    expect(issuesOf({})).toEqual([
      'GRPC_PORT: is required',
      'WEBHOOK_DATABASE_URL: is required',
      'NATS_URL: is required',
      'WEBHOOK_SECRET_KEY: is required',
    ]);
  });

  it('WEBHOOK_RETRY_DELAYS_SECONDS must be exactly two delays, in whole seconds', () => {
    const parse = (text: string) =>
      parseConfig(webhookConfigSchema, { ...REQUIRED, WEBHOOK_RETRY_DELAYS_SECONDS: text });
    expect(parse('1,2').WEBHOOK_RETRY_DELAYS_SECONDS).toEqual([1_000, 2_000]);
    expect(parse('0,86400').WEBHOOK_RETRY_DELAYS_SECONDS).toEqual([0, 86_400_000]);
    for (const text of ['60', '60,300,900', '60,', '1.5,2', '-1,2', '60, 300', 'a,b', '1,99999'])
      expect(issuesOf({ ...REQUIRED, WEBHOOK_RETRY_DELAYS_SECONDS: text })).toHaveLength(1);
  });

  it.each([
    ['NATS_URL', 'http://localhost:4222'],
    ['EVENTS_PREFIX', 'two words'],
    ['WEBHOOK_SECRET_KEY', Buffer.alloc(16).toString('base64')],
    ['WEBHOOK_SECRET_KEY', 'no base64!'],
    ['WEBHOOK_SECRET_KEYS_ACCEPTED', `2:${Buffer.alloc(31).toString('base64')}`],
    ['EGRESS_ALLOW_CIDRS', '192.168.7.0'],
    ['EGRESS_CA_FILE', '/nowhere/ca.pem'],
    ['EGRESS_DNS_SERVERS', 'not an address'],
  ])('the configuration refuses %s %s without repeating the value', (name, value) => {
    const issues = issuesOf({ ...REQUIRED, [name]: value });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(new RegExp(`^${name}: must be`));
    expect(issues[0]).not.toContain(value);
  });
});
