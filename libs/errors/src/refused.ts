/** Refusals as values: an expected "no" is returned, and a bug is thrown. */
import { type ApiErrorCode, DEFAULT_MESSAGE } from './error-codes.ts';

export type Refused = { readonly kind: 'refused'; readonly code: ApiErrorCode; readonly message: string };

export function refused(code: ApiErrorCode, message: string = DEFAULT_MESSAGE[code]): Refused {
  return { kind: 'refused', code, message };
}

/**
 * Whether a result is a refusal. Checks the shape only, so that a refusal with an unknown code
 * never passes for a response.
 */
export function isRefused(value: unknown): value is Refused {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, code } = value as Partial<Refused>;
  return kind === 'refused' && typeof code === 'string';
}
