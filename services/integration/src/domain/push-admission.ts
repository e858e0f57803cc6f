/**
 * Whether an integration accepts pushes now. Decided only after the signature is verified: before
 * that, every refusal is the same `unauthorized`.
 */
import { type Refused, refused } from '@laurel/errors';

export function refusePush(integration: {
  readonly status: 'draft' | 'active' | 'suspended';
  readonly isProgramOpen: boolean;
}): Refused | null {
  if (integration.status !== 'active') return refused('not_found', `The integration is ${integration.status}.`);
  if (!integration.isProgramOpen) return refused('not_found', 'The program does not accept outcomes now.');
  return null;
}
