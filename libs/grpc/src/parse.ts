/** What the calls of every service carry, from messages to words. What a sister service must never send is a bug and throws. */
import { isUuid } from '@laurel/ids';
import { Environment } from '@laurel/proto/common';

type ParsedEnvironment = 'test' | 'live';

type ParsedTenant = { readonly programId: string; readonly environment: ParsedEnvironment };

/** As many items as one call may carry. */
const MAX_ITEMS = 200;

export function parseItems<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length <= MAX_ITEMS) return items;
  throw new Error(`a call carries ${items.length} items, at most ${MAX_ITEMS} are allowed`);
}

export function parseId(id: string): string {
  if (!isUuid(id)) throw new Error('an id is not a uuid');
  return id.toLowerCase();
}

export function parseTenant(tenant: { programId: string; environment: Environment } | undefined): ParsedTenant {
  if (tenant === undefined) throw new Error('a message lacks its tenant');
  return { programId: parseId(tenant.programId), environment: parseEnvironment(tenant.environment) };
}

export function parseEnvironment(environment: Environment): ParsedEnvironment {
  if (environment === Environment.TEST) return 'test';
  if (environment === Environment.LIVE) return 'live';
  throw new Error(`environment ${environment} is unknown`);
}
