/**
 * The sandbox for a signed-in developer: the routes of `/api/sandbox` below a program of the
 * developer, and in addition creating an attempt and reporting its outcome, with the body and the
 * run of `/v1`. A program whose test key would not work is refused here too.
 */
import type { HotCalls } from '@laurel/attempts/client';
import { type ApiErrorCode, isRefused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import type { Principal } from '../../domain/principal.ts';
import type { Call, Route } from '../../http/route.ts';
import { objectOf } from '../../http/zod.ts';
import { pathId } from '../fields.ts';
import { SANDBOX_ROUTES, type SandboxServices } from '../sandbox/index.ts';
import { createAttempt } from '../v1/create-attempt.ts';
import { reportOutcome } from '../v1/report-outcome.ts';
import { type AcceptingEnvironments, NO_KEY_WORKS, openTenantOf } from './open-tenant.ts';
import { defineProgramRoute, type ProgramCaller } from './program-route.ts';

type Tenant = Principal['tenant'];

/** Runs a route for the program in test. */
function inSandbox<Caller, Dependencies>(
  route: Pick<Route<Caller, Dependencies>, 'run'>,
  callOf: (
    call: Call<ProgramCaller, Readonly<Record<string, unknown>>, unknown, unknown>,
    tenant: Tenant,
  ) => Call<Caller, unknown, unknown, unknown>,
) {
  return async (
    call: Call<ProgramCaller, Readonly<Record<string, unknown>>, unknown, unknown>,
    dependencies: Dependencies & AcceptingEnvironments,
  ) => {
    const tenant = openTenantOf(call.caller.program, Environment.TEST, dependencies);
    return isRefused(tenant) ? tenant : route.run(callOf(call, tenant), dependencies);
  };
}

function bySession(route: Route<Tenant, SandboxServices>) {
  const { name, path, params, refusals, ...same } = route;
  const isChange = route.method !== 'get';
  return defineProgramRoute<SandboxServices & AcceptingEnvironments>({
    ...same,
    name: `${name}BySession`,
    path: `/sandbox${path}`,
    ...(params !== undefined && { params: objectOf(params).shape }),
    refusals: withConflict(refusals),
    ...(isChange && { action: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) }),
    run: inSandbox(route, (call, tenant) => ({ ...call, caller: tenant })),
  });
}

function withConflict(refusals: Partial<Record<ApiErrorCode, string>> = {}) {
  const { conflict } = refusals;
  return { ...refusals, conflict: conflict === undefined ? NO_KEY_WORKS : `${conflict} ${NO_KEY_WORKS}` };
}

const NO_KEY = 'The route takes no `Idempotency-Key`.';

const createSandboxAttempt = defineProgramRoute({
  method: 'post',
  path: '/sandbox/attempts',
  name: 'createSandboxAttempt',
  summary: 'Create an attempt in the sandbox and charge its fee in play money',
  description: `${NO_KEY} If the response is lost, the attempt may exist and its fee may be charged; a repeated call creates and charges another one. An attempt without an outcome expires after its hour, or when the sandbox expires it, and its fee is returned.`,
  ...(createAttempt.body !== undefined && { body: createAttempt.body }),
  ...(createAttempt.verbatim !== undefined && { verbatim: createAttempt.verbatim }),
  success: createAttempt.success,
  refusals: withConflict({
    ...createAttempt.refusals,
    invalid_request: 'The request names both parents or neither, or lacks `player_ref`.',
  }),
  action: 'create_sandbox_attempt',
  run: inSandbox(createAttempt, (call, tenant) => ({
    ...call,
    caller: { tenant },
    operationId: createAttempt.mintOperationId?.(call.body) ?? '',
  })) as Route<ProgramCaller, { hotCalls: HotCalls } & AcceptingEnvironments>['run'],
});

const reportSandboxOutcome = defineProgramRoute({
  method: 'post',
  path: '/sandbox/attempts/{attemptId}/outcome',
  name: 'reportSandboxOutcome',
  summary: 'Report the score of an attempt in the sandbox',
  description: `${NO_KEY} If the response is lost, the outcome may be recorded: a repeated call is then refused with \`attempt_already_settled\`, changes nothing and pays nothing again, and the attempt shows its outcome.`,
  params: { attemptId: pathId },
  ...(reportOutcome.body !== undefined && { body: reportOutcome.body }),
  ...(reportOutcome.verbatim !== undefined && { verbatim: reportOutcome.verbatim }),
  success: reportOutcome.success,
  refusals: withConflict({ ...reportOutcome.refusals, invalid_request: '`score` is not a finite number.' }),
  action: 'report_sandbox_outcome',
  run: inSandbox(reportOutcome, (call, tenant) => ({
    ...call,
    caller: { tenant },
    params: { attempt_id: call.params.attemptId },
    operationId: reportOutcome.mintOperationId?.(call.body) ?? '',
  })) as Route<ProgramCaller, { hotCalls: HotCalls } & AcceptingEnvironments>['run'],
});

/** The dependencies of these routes. */
export interface ProgramSandboxServices extends SandboxServices, AcceptingEnvironments {
  readonly hotCalls: HotCalls;
}

export const PROGRAM_SANDBOX_ROUTES = [...SANDBOX_ROUTES.map(bySession), createSandboxAttempt, reportSandboxOutcome];
