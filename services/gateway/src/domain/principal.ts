/** The principal of an API key: one program in one environment (docs/contract/partner-api.md, "Authentication"). */
import type { KeyEnvironment } from './api-key.ts';

export interface Principal {
  readonly keyId: string;
  readonly programId: string;
  readonly environment: KeyEnvironment;
  /** The subject of the window in which its requests count. */
  readonly windowId: string;
  /** The same program and environment as gRPC messages carry them (`laurel.common.v1`): 1 is test, 2 is live. */
  readonly tenant: { readonly programId: string; readonly environment: 1 | 2 };
}
