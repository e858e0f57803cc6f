/** How a request uses its idempotency key: the key's record, and what the key is bound to. */
import { hash } from 'node:crypto';
import { canonicalJson } from '@laurel/json';
import { hashId } from '@laurel/values/ids';
import type { Request, Response } from 'express';
import type { Principal } from '../domain/principal.ts';
import { contextOf } from '../http/context.ts';
import type { AnyRoute } from '../http/route.ts';
import type { InputCheck } from '../http/validate.ts';
import type { IdempotencyUse } from '../repository/idempotency-records.ts';

/**
 * The use that a request from this principal makes of its idempotency key; null if the key is not
 * valid. Built at most once per request.
 */
export type IdempotencyUseOf = (request: Request, response: Response, principal: Principal) => IdempotencyUse | null;

/**
 * Returns the function that reads a request's idempotency use; undefined for a route that takes no
 * idempotency key.
 */
export function idempotencyUseOf(route: AnyRoute, check: InputCheck): IdempotencyUseOf | undefined {
  const { mintOperationId } = route;
  if (mintOperationId === undefined) return undefined;
  const template = `${route.method} ${route.path}`;

  return (request, response, principal) => {
    const context = contextOf(response);
    if (context.idempotencyUse !== undefined) return context.idempotencyUse;
    const checked = check(request, context);
    if (checked.kind === 'invalid') return null;
    const { input } = checked;
    context.idempotencyUse = {
      recordId: recordIdOf(principal, template, input.idempotencyKey),
      operationId: mintOperationId(input.body),
      fingerprint: fingerprintOf(input.params, input.sentBody),
    };
    return context.idempotencyUse;
  };
}

/** The id of a key's record: one per tenant, endpoint and key. */
export function recordIdOf(
  tenant: { readonly programId: string; readonly environment: string },
  routeTemplate: string,
  key: string,
): string {
  return hashId('idempotency', tenant.programId, tenant.environment, routeTemplate, key);
}

/**
 * What a key is bound to: the path parameters and the body, independent of the order and spacing of
 * members and of how numbers are written. Numbers are compared by their exact value. If doubles
 * hold all numbers exactly, the hashed text is RFC 8785 canonical JSON. This must not change,
 * because records outlive a deployment.
 */
export function fingerprintOf(params: unknown, body: unknown): string {
  return hash('sha256', canonicalJson([params, body]));
}
