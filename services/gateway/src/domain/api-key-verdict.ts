/**
 * The verdict on a request by its API key: 401, 429, or its position in the key's minute
 * (docs/contract/partner-api.md, "Authentication" and "Rate limit").
 */
import type { Principal } from './principal.ts';

export type ApiKeyVerdict =
  | { readonly kind: 'admitted'; readonly principal: Principal; readonly remaining: number }
  | { readonly kind: 'unauthorized' }
  | {
      readonly kind: 'limited';
      readonly principal: Principal;
      readonly retryAfterSeconds: number;
      readonly resetAt: Date;
    };
