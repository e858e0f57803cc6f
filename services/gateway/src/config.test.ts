import { randomBytes } from 'node:crypto';
import { parseConfig } from '@laurel/service';
import { describe, expect, test } from 'vitest';
import { gatewayConfigSchema, operatorsOf } from './config.ts';

const BASE = {
  GATEWAY_DATABASE_URL: 'postgres://laurel@127.0.0.1:5432/gateway',
  WALLET_ADDRESS: '127.0.0.1:1',
  CHALLENGE_ADDRESS: '127.0.0.1:1',
  TOURNAMENT_ADDRESS: '127.0.0.1:1',
  WEBHOOK_ADDRESS: '127.0.0.1:1',
  INTEGRATION_ADDRESS: '127.0.0.1:1',
  KEY_PEPPER: randomBytes(32).toString('base64'),
};
const [A, B, C] = Array.from({ length: 3 }, () => randomBytes(24).toString('base64url'));

const operators = (variables: Record<string, string>) =>
  operatorsOf(parseConfig(gatewayConfigSchema, { ...BASE, ...variables }));
const issuesOf = (variables: Record<string, string>): unknown => {
  try {
    return operators(variables);
  } catch (error) {
    return (error as { issues?: unknown }).issues;
  }
};

test('the gateway has the numbers of the contract as defaults', () => {
  const config = parseConfig(gatewayConfigSchema, { ...BASE, OPERATOR_TOKEN: `${A}` });
  expect(config).toMatchObject({
    ACCEPTED_ENVIRONMENTS: ['test', 'live'],
    RATE_LIMIT_PER_MINUTE: 300,
    SANDBOX_RATE_LIMIT_PER_MINUTE: 600,
    PORTAL_RATE_LIMIT_PER_MINUTE: 300,
    OPERATOR_RATE_LIMIT_PER_MINUTE: 6_000,
    PUSH_RATE_LIMIT_PER_MINUTE: 6_000,
    PUSH_ADDRESS_RATE_LIMIT_PER_MINUTE: 12_000,
    // A quarter of this, 512 KiB, is for one address at one integration.
    PUSH_UNKNOWN_KIB_PER_SECOND: 2_048 * 1_024,
    PUSH_LIVE_KIB_PER_SECOND: 16_384 * 1_024,
    PUSH_TEST_KIB_PER_SECOND: 1_024 * 1_024,
    IDEMPOTENCY_TAKEOVER_SECONDS: 60,
    PORTAL_SESSION_HOURS: 12,
    PORTAL_COOKIE_SECURE: true,
    DOCS_ENABLED: true,
    PORTAL_ENABLED: true,
    OPERATOR_PAGES_ENABLED: true,
    REQUEST_LOG_ENABLED: true,
  });
});

describe('operators in the configuration', () => {
  test('an operator may have two tokens, so that one can replace the other', () => {
    expect(operators({ OPERATOR_TOKEN: `${A}` })).toEqual([{ name: 'operator', token: A }]);
    expect(operators({ OPERATOR_TOKENS: `alice:${A}, bob:${B},alice:${C}` })).toEqual([
      { name: 'alice', token: A },
      { name: 'bob', token: B },
      { name: 'alice', token: C },
    ]);
    expect(operators({ OPERATOR_TOKEN: `${A}`, OPERATOR_TOKENS: `alice:${B}` })).toHaveLength(2);
  });

  test.each([
    ['no token', {}, /^OPERATOR_TOKEN: is required/],
    ['a token of 31 characters', { OPERATOR_TOKEN: 'x'.repeat(31) }, /^OPERATOR_TOKEN: must have at least 32/],
    [
      'a named token of 31 characters',
      { OPERATOR_TOKENS: `a:${'x'.repeat(31)}` },
      /^OPERATOR_TOKENS: must be name:token/,
    ],
    ['a token without a name', { OPERATOR_TOKENS: `${A}` }, /^OPERATOR_TOKENS: must be name:token/],
    ['one token twice', { OPERATOR_TOKEN: `${A}`, OPERATOR_TOKENS: `a:${A}` }, /^OPERATOR_TOKENS: must not give/],
  ])('operator settings with %s are refused, and the message contains no token', (_what, variables, issue) => {
    const found = issuesOf(variables);
    expect(found).toEqual([expect.stringMatching(issue)]);
    expect(JSON.stringify(found)).not.toContain(A);
  });
});
