import type { Tenant } from '@laurel/values/tenant';

/** A player as the partner names them. */
export type Player = { readonly tenant: Tenant; readonly playerRef: string };

/**
 * The account that the ref names. `isFresh` is true if the wallet has just named it, false if it is
 * cached.
 */
export type NamedAccount = { readonly accountId: string | null; readonly isFresh: boolean };

/** What a contest requires of a player in addition to the rules that always apply. */
export type Requirement = {
  readonly verificationLevel: number;
  /** An empty list allows every jurisdiction. */
  readonly jurisdictions: readonly string[];
  readonly refuseInsiders: boolean;
};
