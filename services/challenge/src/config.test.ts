import { parseConfig } from '@laurel/service';
import { configIssuesOf } from '@laurel/testing';
import { expect, it } from 'vitest';
import { challengeConfigSchema } from './config.ts';

const REQUIRED = {
  GRPC_PORT: '7002',
  CHALLENGE_DATABASE_URL: 'postgres://challenge@localhost:5432/challenge',
  WALLET_ADDRESS: '127.0.0.1:7001',
  NATS_URL: 'nats://localhost:4222',
  RECEIPT_SIGNING_SEED: Buffer.alloc(32, 1).toString('base64'),
};

it('the challenge service’s configuration has the decided limits as defaults', () => {
  expect(parseConfig(challengeConfigSchema, REQUIRED)).toMatchObject({
    ATTEMPT_TTL_SECONDS: 3_600,
    PENDING_GRACE_SECONDS: 60,
    OUTBOX_REPUBLISH_AFTER_MS: 5_000,
    TIER_CEILINGS: [25_00n, 250_00n, 2_500_00n],
  });
});

it('TIER_CEILINGS must be exactly three amounts', () => {
  const parse = (text: string) => parseConfig(challengeConfigSchema, { ...REQUIRED, TIER_CEILINGS: text });
  expect(parse('1.00, 2.50,30.00').TIER_CEILINGS).toEqual([1_00n, 2_50n, 30_00n]);
  for (const text of ['25.00,250.00', '1.00,2.00,3.00,4.00', '1,2,3', '1.00,-2.00,3.00'])
    expect(configIssuesOf(challengeConfigSchema, { ...REQUIRED, TIER_CEILINGS: text })).toEqual([
      'TIER_CEILINGS: must be the three amounts of tiers 1, 2 and 3, like 25.00,250.00,2500.00',
    ]);
});
