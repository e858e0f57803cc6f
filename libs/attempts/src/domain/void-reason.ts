/** The reason for which an operator voids an attempt. It is stored on the attempt. */
import { type Refused, refused } from '@laurel/errors';
import { isStorable } from '@laurel/json';

export const MAX_VOID_REASON_CHARACTERS = 1_000;

/** Returns null if the reason is valid, else the refusal. */
export function checkVoidReason(reason: string): Refused | null {
  if (reason !== '' && isStorable(reason, MAX_VOID_REASON_CHARACTERS)) return null;
  return refused('invalid_request', `reason must have 1 to ${MAX_VOID_REASON_CHARACTERS} characters.`);
}
