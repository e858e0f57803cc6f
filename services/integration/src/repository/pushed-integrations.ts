/**
 * The integrations that pushes name, in their current state. They are read for every push, so that
 * no retired secret and no suspended program passes.
 */
import type { Queryable } from '@laurel/postgres';
import type { Environment, Tenant } from '@laurel/values/tenant';

export type PushedIntegration = {
  readonly id: string;
  readonly tenant: Tenant;
  readonly status: 'draft' | 'active' | 'suspended';
  /** Whether the program's keys are accepted in the integration's environment. */
  readonly isProgramOpen: boolean;
  /** A JSON object as text. */
  readonly descriptorText: string;
  /** Encrypted; null for an integration that takes no pushes. */
  readonly signingSecret: Buffer | null;
  readonly previousSigningSecret: Buffer | null;
};

type IntegrationRow = {
  id: string;
  program_id: string;
  environment: Environment;
  status: PushedIntegration['status'];
  is_program_open: boolean;
  descriptor: string;
  signing_secret: Buffer | null;
  previous_signing_secret: Buffer | null;
};

const SELECT = {
  name: 'integrations_of_pushes',
  text: `
select i.id, i.program_id, i.environment, i.status, i.environment = any(p.open_environments) as is_program_open,
  i.descriptor::text as descriptor, i.signing_secret, i.previous_signing_secret
from unnest($1::uuid[]) as w (id) join integrations i on i.id = w.id join programs p on p.id = i.program_id`,
};

/** Returns a map by id, without the ids that have no integration. */
export async function loadPushedIntegrations(
  on: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PushedIntegration>> {
  if (ids.length === 0) return new Map();
  const rows = await on.query<IntegrationRow>(SELECT, [ids]);
  return new Map(rows.map((row) => [row.id, toIntegration(row)]));
}

function toIntegration(row: IntegrationRow): PushedIntegration {
  return {
    id: row.id,
    tenant: { programId: row.program_id, environment: row.environment },
    status: row.status,
    isProgramOpen: row.is_program_open,
    descriptorText: row.descriptor,
    signingSecret: row.signing_secret,
    previousSigningSecret: row.previous_signing_secret,
  };
}
