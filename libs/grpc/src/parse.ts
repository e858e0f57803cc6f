/**
 * The types that all services' calls share, from messages to the domain and back. Parsing throws on
 * what no Laurel service may send: that is a bug.
 */

import type { Environment as EnvironmentMessage, Tenant as TenantMessage } from '@laurel/proto/common';
import { ENVIRONMENTS, findName } from '@laurel/proto/enum-names';
import { isUuid } from '@laurel/values/ids';
import type { Environment, Tenant } from '@laurel/values/tenant';
import { MAX_ITEMS } from './wire.ts';

export function parseItems<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length <= MAX_ITEMS) return items;
  throw new Error(`a call carries ${items.length} items, at most ${MAX_ITEMS} are allowed`);
}

export function parseId(id: string): string {
  if (!isUuid(id)) throw new Error('an id is not a uuid');
  return id.toLowerCase();
}

export function parseTenant(tenant: TenantMessage | undefined): Tenant {
  if (tenant === undefined) throw new Error('a message lacks its tenant');
  return { programId: parseId(tenant.programId), environment: parseEnvironment(tenant.environment) };
}

export function parseEnvironment(environment: EnvironmentMessage): Environment {
  const name = findName(ENVIRONMENTS, environment);
  if (name === undefined) throw new Error(`environment ${environment} is unknown`);
  return name;
}

/** The message form of a tenant (`laurel.common.v1.Tenant`). */
export function presentTenant({ programId, environment }: Tenant): {
  readonly programId: string;
  readonly environment: (typeof ENVIRONMENTS)[Tenant['environment']];
} {
  return { programId, environment: ENVIRONMENTS[environment] };
}
