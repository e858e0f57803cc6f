/** How a request uses its idempotency key: the record that stands for the key, and what the key is bound to. */
import { hash } from 'node:crypto';
import { hashId } from '@laurel/ids';
import canonicalize from 'canonicalize';
import type { Request, Response } from 'express';
import type { KeyUse } from '../repository/idempotency-records.ts';
import type { V1Route } from '../routes/v1/route.ts';
import type { Principal } from './admission.ts';
import { contextOf } from './context.ts';
import type { InputCheck } from './validate.ts';

/** The use that a request makes of its key when this principal sent it; null when it is not valid. Made at most once a request. */
export type KeyUseOf = (request: Request, response: Response, principal: Principal) => KeyUse | null;

/** Undefined for a route that takes no idempotency key. */
export function keyUseOf(route: V1Route, check: InputCheck): KeyUseOf | undefined {
  const { mintOperationId } = route;
  if (mintOperationId === undefined) return undefined;
  const template = `${route.method} ${route.path}`;

  return (request, response, principal) => {
    const context = contextOf(response);
    if (context.keyUse !== undefined) return context.keyUse;
    const checked = check(request, context);
    if (checked.kind === 'faulty') return null;
    const { input } = checked;
    context.keyUse = {
      recordId: recordIdOf(principal, template, input.idempotencyKey),
      operationId: mintOperationId(input.body),
      fingerprint: fingerprintOf(input.params, input.sentBody),
    };
    return context.keyUse;
  };
}

/** The record of a key: one per tenant, endpoint and key. */
export function recordIdOf(
  tenant: { readonly programId: string; readonly environment: string },
  routeTemplate: string,
  key: string,
): string {
  return hashId('idempotency', tenant.programId, tenant.environment, routeTemplate, key);
}

/** What a key is bound to: the path parameters and the body, however its members are ordered or spaced. */
export function fingerprintOf(params: Readonly<Record<string, string>>, body: unknown): string {
  return hash('sha256', canonicalize([params, body]) ?? '');
}
