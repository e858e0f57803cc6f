import { ConfigError, parseConfig } from '@laurel/service';
import { describe, expect, it } from 'vitest';
import { walletConfigSchema } from './config.ts';

const required = { GRPC_PORT: '7001', WALLET_DATABASE_URL: 'postgres://wallet@localhost:5432/wallet' };

describe('the configuration of the wallet', () => {
  it('the wallet’s configuration has the decided defaults', () => {
    expect(parseConfig(walletConfigSchema, required)).toEqual({
      LOG_LEVEL: 'info',
      GRPC_TLS_RELOAD_MS: 10_000,
      GRPC_HOST: '127.0.0.1',
      GRPC_PORT: 7001,
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: 0,
      AUDIT_INTERVAL_SECONDS: 600,
      WALLET_DATABASE_URL: required.WALLET_DATABASE_URL,
      ALLOW_PRIVILEGED_DATABASE_ROLE: false,
      WALLET_DATABASE_POOL: 8,
      MONEY_COUNT_INTERVAL_SECONDS: 60,
      MINIMUM_AGE_YEARS: 18,
      SERVED_JURISDICTIONS: [],
      PAYOUT_VELOCITY_COUNT: 5,
      PROGRAM_PAYOUT_LIMIT: 5_000_00n,
      PROGRAM_FEE_LIMIT: 200_00n,
      PAYOUT_VELOCITY_AMOUNT: 500_00n,
    });
  });

  it('the wallet’s configuration parses jurisdictions and amounts', () => {
    const env = { ...required, SERVED_JURISDICTIONS: 'US-CA, US-NY,', PAYOUT_VELOCITY_AMOUNT: '12.34' };
    expect(parseConfig(walletConfigSchema, env)).toMatchObject({
      SERVED_JURISDICTIONS: ['US-CA', 'US-NY'],
      PAYOUT_VELOCITY_AMOUNT: 12_34n,
    });
  });

  it('a wrong configuration of the wallet fails with every validation issue', () => {
    const parse = () => parseConfig(walletConfigSchema, { GRPC_PORT: 'x', PAYOUT_VELOCITY_AMOUNT: '5' });
    expect(parse).toThrow(
      new ConfigError([
        'GRPC_PORT: must be a port, 0 to 65535',
        'WALLET_DATABASE_URL: is required',
        'PAYOUT_VELOCITY_AMOUNT: must be an amount like 500.00',
      ]),
    );
  });
});
