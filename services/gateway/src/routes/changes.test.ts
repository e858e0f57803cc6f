/**
 * Every PATCH route under `/api` (docs/contract/portal-api.md) needs at least one of its fields,
 * and refuses unknown ones.
 */
import { expect, test } from 'vitest';
import { OPERATOR_ROUTES } from './operator/index.ts';
import { PORTAL_ROUTES } from './portal/index.ts';
import { SANDBOX_ROUTES } from './sandbox/index.ts';

const CHANGES = [...OPERATOR_ROUTES, ...PORTAL_ROUTES, ...SANDBOX_ROUTES].filter(({ method }) => method === 'patch');

test('the tested routes include changes by operators and changes by developers', () => {
  expect(CHANGES.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['changeProgram', 'changeChallenge', 'changeWebhookEndpoint']),
  );
});

test.each(CHANGES)('$name needs at least one field, and refuses an unknown field', ({ body }) => {
  expect(body?.safeParse({}).success).toBe(false);
  const issues = body?.safeParse({ misspelt: true }).error?.issues ?? [];
  expect(issues).toContainEqual(expect.objectContaining({ code: 'unrecognized_keys', keys: ['misspelt'] }));
});
