/**
 * A tenant is a program in one of its two environments: `test`, with play money, or `live`.
 * Everything belongs to exactly one tenant and does not exist for any other.
 */
export const ENVIRONMENTS = ['test', 'live'] as const;

export type Environment = (typeof ENVIRONMENTS)[number];

export type Tenant = { readonly programId: string; readonly environment: Environment };

export function isSameTenant(one: Tenant, other: Tenant): boolean {
  return one.programId === other.programId && one.environment === other.environment;
}
