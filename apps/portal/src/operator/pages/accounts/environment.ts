import type { Account, Environment } from '../../../api/api-types.ts';

type Kind = Pick<Account, 'sandbox_only' | 'program_id'>;

/** A person has real money only, and a sandbox account play money only. */
export function environmentOf({ sandbox_only }: Pick<Kind, 'sandbox_only'>): Environment {
  return sandbox_only ? 'test' : 'live';
}

/** An account of the sandbox that all programs once shared takes no deposit any more. */
export function takesDeposits({ sandbox_only, program_id }: Kind): boolean {
  return !sandbox_only || program_id !== null;
}
