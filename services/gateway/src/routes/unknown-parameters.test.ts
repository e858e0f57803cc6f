import type { Request } from 'express';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RequestContext } from '../http/context.ts';
import { type AnyRoute, apiArea } from '../http/route.ts';
import { inputCheckOf } from '../http/validate.ts';
import { objectOf } from '../http/zod.ts';
import { OPERATOR_ROUTES } from './operator/index.ts';
import { PORTAL_ROUTES } from './portal/index.ts';
import { SIGN_IN_ROUTES } from './portal/session.ts';
import { SANDBOX_ROUTES } from './sandbox/index.ts';

const ROUTES: readonly (readonly [area: 'operator' | 'portal' | 'sandbox', route: AnyRoute])[] = [
  ...[...SIGN_IN_ROUTES, ...PORTAL_ROUTES].map((route: AnyRoute) => ['portal', route] as const),
  ...OPERATOR_ROUTES.map((route: AnyRoute) => ['operator', route] as const),
  ...SANDBOX_ROUTES.map((route: AnyRoute) => ['sandbox', route] as const),
];

/** The code of the refusal of a query; undefined if the query is accepted. */
function refusalOf([area, route]: (typeof ROUTES)[number], query: string): string | undefined {
  const { body: _body, params: _params, ...onlyQuery } = route;
  const check = inputCheckOf(onlyQuery, apiArea(area));
  const request = { url: `${route.path}${query}`, headers: {}, params: {} } as Request;
  const checked = check(request, new RequestContext('', 0));
  return checked.kind === 'invalid' ? checked.refusal.code : undefined;
}

const declaredBy = ({ query }: AnyRoute) => (query === undefined ? [] : Object.keys(objectOf(query).shape));
const name = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom('page', 'Limit', 'limit[]', '__proto__', 'constructor'),
);
const value = fc.string();

test('every route under /api refuses a query parameter that it does not declare', () => {
  expect(ROUTES.length).toBeGreaterThan(50);
  fc.assert(
    fc.property(fc.constantFrom(...ROUTES), name, value, ([area, route], unknown, text) => {
      fc.pre(!declaredBy(route).includes(unknown));
      const query = `?${encodeURIComponent(unknown)}=${encodeURIComponent(text)}`;
      expect(refusalOf([area, route], query), `${route.name} ${query}`).toBe('invalid_request');
    }),
  );
});

test.each(ROUTES)('/api/%s: $name refuses an unknown query parameter', (area, route) => {
  expect(refusalOf([area, route], '?unknown=1')).toBe('invalid_request');
  expect(refusalOf([area, route], '?unknown')).toBe('invalid_request');
  for (const declared of declaredBy(route)) {
    expect(refusalOf([area, route], `?${declared}=10&unknown=1`)).toBe('invalid_request');
    expect(refusalOf([area, route], `?${declared}=10&${declared}=10`)).toBe('invalid_request');
  }
});

test('every route under /api whose parameters are optional accepts a request without any', () => {
  for (const [area, route] of ROUTES) {
    const isComplete = route.query === undefined || objectOf(route.query).safeParse({}).success;
    for (const query of ['', '?']) {
      expect(refusalOf([area, route], query), route.name).toBe(isComplete ? undefined : 'invalid_request');
    }
  }
});
