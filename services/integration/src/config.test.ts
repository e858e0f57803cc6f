import { parseConfig } from '@laurel/service';
import { configIssuesOf } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { integrationConfigSchema } from './config.ts';

const REQUIRED = {
  GRPC_PORT: '50051',
  INTEGRATION_DATABASE_URL: 'postgres://laurel@localhost:5432/integration',
  CHALLENGE_ADDRESS: 'localhost:9002',
  TOURNAMENT_ADDRESS: 'localhost:9003',
  INTEGRATION_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

const issuesOf = (environment: Record<string, string>) => configIssuesOf(integrationConfigSchema, environment);

describe('the integration service’s configuration', () => {
  it('the integration service’s configuration has the contract’s values as defaults', () => {
    expect(parseConfig(integrationConfigSchema, REQUIRED)).toEqual({
      LOG_LEVEL: 'info',
      GRPC_TLS_RELOAD_MS: 10_000,
      GRPC_HOST: '127.0.0.1',
      GRPC_PORT: 50_051,
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: 0,
      INTEGRATION_DATABASE_URL: REQUIRED.INTEGRATION_DATABASE_URL,
      ALLOW_PRIVILEGED_DATABASE_ROLE: false,
      INTEGRATION_DATABASE_POOL: 8,
      CHALLENGE_ADDRESS: REQUIRED.CHALLENGE_ADDRESS,
      TOURNAMENT_ADDRESS: REQUIRED.TOURNAMENT_ADDRESS,
      INTEGRATION_SECRET_KEY: Buffer.alloc(32, 1),
      INTEGRATION_SECRET_KEY_VERSION: 1,
      INTEGRATION_SECRET_KEYS_ACCEPTED: [],
      INTEGRATION_POLL_TIMEOUT_MS: 10_000,
      INTEGRATION_SWEEP_MS: 1_000,
      INTEGRATION_POLLS_PER_ORIGIN: 4,
      INTEGRATION_POLLS: 128,
      INTEGRATION_LOG_RETENTION_DAYS: 7,
      EGRESS_ALLOW_CIDRS: [],
    });
  });

  it('the integration service’s configuration lists every missing variable', () => {
    expect(issuesOf({})).toEqual(Object.keys(REQUIRED).map((name) => `${name}: is required`));
  });

  it.each([
    ['CHALLENGE_ADDRESS', 'no address'],
    ['INTEGRATION_SECRET_KEY', Buffer.alloc(16).toString('base64')],
    ['INTEGRATION_SECRET_KEYS_ACCEPTED', `2:${Buffer.alloc(31).toString('base64')}`],
    ['INTEGRATION_POLLS', '-4'],
    ['EGRESS_ALLOW_CIDRS', '192.168.7.0'],
  ])('the configuration refuses %s %s without repeating the value', (name, value) => {
    const issues = issuesOf({ ...REQUIRED, [name]: value });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(new RegExp(`^${name}: must be`));
    expect(issues[0]).not.toContain(value);
  });
});
