/**
 * The principal of an API key: one program in one environment (docs/contract/partner-api.md,
 * "Authentication").
 */
import type { ApiKeyEnvironment } from './api-key.ts';

export interface Principal {
  readonly apiKeyId: string;
  readonly programId: string;
  readonly environment: ApiKeyEnvironment;
  /** The id of the window in which the principal's requests count. */
  readonly windowId: string;
  /**
   * The same program and environment in gRPC messages (`laurel.common.v1`): 1 is test, 2 is live.
   */
  readonly tenant: { readonly programId: string; readonly environment: 1 | 2 };
}
