/**
 * The integrations of a program, for its signed-in developer, in both environments: the bodies, the
 * schemas and the runs are those of `/v1`. Nothing is changed where a key of the program would not
 * work.
 */
import { type ErrorCode, isRefused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { IntegrationClient } from '../../clients/integration.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Route } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';
import { CHANGE_BODY, environment, inEnvironment, pathId } from '../fields.ts';
import { createIntegration } from '../v1/create-integration.ts';
import { createIntegrationBody, updateIntegrationBody } from '../v1/integration-schemas.ts';
import { listIntegrations } from '../v1/list-integrations.ts';
import { retirePreviousIntegrationSecret } from '../v1/retire-previous-integration-secret.ts';
import { rotateIntegrationSecret } from '../v1/rotate-integration-secret.ts';
import { updateIntegration } from '../v1/update-integration.ts';
import { type DryRunDependencies, dryRunDescriptor, listIntegrationLog, logPage, readLog } from './integrations.ts';
import { type AcceptingEnvironments, NO_KEY_WORKS, openTenantOf } from './open-tenant.ts';
import { defineProgramRoute } from './program-route.ts';

type Tenant = Principal['tenant'];
type TenantRoute<Dependencies> = Route<{ readonly tenant: Tenant }, Dependencies, ErrorCode>;

interface Integrations {
  readonly integration: IntegrationClient;
}

const listProgramIntegrations = defineProgramRoute({
  method: 'get',
  path: '/integrations',
  name: 'listProgramIntegrations',
  summary: 'List the integrations of a program in one environment',
  description: 'The list shows no secret.',
  query: z.object(inEnvironment),
  success: listIntegrations.success,
  run: ({ caller: { program }, query, ...call }, dependencies: Integrations) =>
    listIntegrations.run(
      { ...call, query, caller: { tenant: { programId: program.id, environment: query.environment } } },
      dependencies,
    ),
});

const createProgramIntegration = defineProgramRoute({
  ...sharedOf(createIntegration),
  path: '/integrations',
  name: 'createProgramIntegration',
  body: component('ProgramIntegrationRequest', z.strictObject({ environment, ...createIntegrationBody.shape })),
  action: 'create_integration',
  run: async (
    { caller, body, ...call },
    dependencies: Integrations & AcceptingEnvironments & { readonly database: Database },
  ) => {
    const tenant = openTenantOf(caller.program, body.environment, dependencies);
    return isRefused(tenant) ? tenant : createIntegration.run({ ...call, body, caller: { tenant } }, dependencies);
  },
});

const where = environment.openapi({ description: 'Where the integration is; in the other one it is not found.' });

/**
 * Defines a change of one integration. The integration is looked up in the environment that the
 * query names.
 */
function changeOfOne(
  route: TenantRoute<Integrations>,
  as: Pick<Route<never, never>, 'name' | 'action' | 'path'> & Partial<Pick<Route<never, never>, 'method' | 'body'>>,
) {
  return defineProgramRoute({
    ...sharedOf(route),
    ...as,
    path: `/integrations/{integrationId}${as.path}`,
    params: { integrationId: pathId },
    query: z.object({ environment: where }),
    run: async ({ caller, params, ...call }, dependencies: Integrations & AcceptingEnvironments) => {
      const tenant = openTenantOf(caller.program, call.query.environment, dependencies);
      if (isRefused(tenant)) return tenant;
      return route.run({ ...call, params: { id: params.integrationId }, caller: { tenant } }, dependencies);
    },
  });
}

/**
 * The members that a change takes over from the route of `/v1`: its texts, its body and its
 * success.
 */
function sharedOf<Dependencies>(route: TenantRoute<Dependencies>) {
  const { params: _params, refusals, run: _run, ...shared } = route;
  return { ...shared, refusals: { ...refusals, conflict: NO_KEY_WORKS } };
}

const dryRunProgramDescriptor = defineProgramRoute({
  ...dryRunDescriptor,
  params: {},
  path: '/integrations/dry-run',
  name: 'dryRunProgramDescriptor',
  run: (call, dependencies: DryRunDependencies) => dryRunDescriptor.run(call, dependencies),
});

const listProgramIntegrationLog = defineProgramRoute({
  ...listIntegrationLog,
  path: '/integrations/{integrationId}/log',
  name: 'listProgramIntegrationLog',
  params: { integrationId: pathId },
  query: logPage,
  run: ({ caller: { developerId, program }, params, query, options }, { integration }: Integrations) =>
    readLog(integration, { developerId, programId: program.id, integrationId: params.integrationId }, query, options),
});

export const PROGRAM_INTEGRATION_ROUTES = [
  listProgramIntegrations,
  createProgramIntegration,
  changeOfOne(updateIntegration, {
    path: '',
    name: 'updateProgramIntegration',
    body: component(
      'ProgramIntegrationChange',
      z
        .strictObject(updateIntegrationBody.shape)
        .refine((body) => Object.keys(body).length > 0, 'must change something'),
      CHANGE_BODY,
    ),
    action: 'update_integration',
  }),
  changeOfOne(rotateIntegrationSecret, {
    path: '/rotate-secret',
    name: 'rotateProgramIntegrationSecret',
    action: 'rotate_integration_secret',
  }),
  changeOfOne(retirePreviousIntegrationSecret, {
    method: 'post',
    path: '/retire-previous-secret',
    name: 'retirePreviousProgramIntegrationSecret',
    action: 'retire_previous_integration_secret',
  }),
  dryRunProgramDescriptor,
  listProgramIntegrationLog,
];
