export type Environment = 'test' | 'live';

/** Who asks. Everything belongs to exactly one tenant and does not exist for any other. */
export type Tenant = { readonly programId: string; readonly environment: Environment };

export function isSameTenant(one: Tenant, other: Tenant): boolean {
  return one.programId === other.programId && one.environment === other.environment;
}
