import type { Tenant } from './tenant.ts';

/** A player as the partner names them. */
export type Player = { readonly tenant: Tenant; readonly playerRef: string };

/** Who the ref names, and whether the wallet was asked just now. */
export type NamedAccount = { readonly accountId: string | null; readonly isFresh: boolean };

/** What a contest demands of a player beyond the rules that always hold. */
export type Requirement = {
  readonly verificationLevel: number;
  /** Empty means all. */
  readonly jurisdictions: readonly string[];
  readonly refuseInsiders: boolean;
};
