/**
 * The secret of `pull.auth`: a partner sends it, and it is never shown again. It is split off the descriptor before that is stored, and kept
 * encrypted. A change of the descriptor may leave it out to keep it, as long as requests go to the same origin in the same manner: it must
 * never reach a server that the partner did not send it for.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Descriptor, Pull } from './descriptor.ts';

/** The member of `pull.auth` that is secret, by the type of authentication. */
const SECRET_MEMBERS = { header: 'value', bearer: 'token', basic: 'password' } as const;

/** What becomes of the stored secret. */
export type SecretChange =
  | { readonly kind: 'replace'; readonly secret: string }
  | { readonly kind: 'keep' }
  | { readonly kind: 'remove' };

/** The descriptor's JSON as text, without the secret. */
export function withoutPullSecret({ pull }: Pick<Descriptor, 'pull'>, json: unknown): string {
  if (pull === null || pull.auth.type === 'none') return JSON.stringify(json);
  const secret = SECRET_MEMBERS[pull.auth.type];
  const { pull: sentPull, ...others } = json as { readonly pull: { readonly auth: Readonly<Record<string, unknown>> } };
  const { [secret]: _secret, ...auth } = sentPull.auth;
  return JSON.stringify({ ...others, pull: { ...sentPull, auth } });
}

/** `stored` is null without a stored secret: for a new integration, and where requests were not authenticated. */
export function decidePullSecret(pull: Pull | null, stored: Pull | null): SecretChange | Refused {
  if (pull === null || pull.auth.type === 'none') return { kind: 'remove' };
  const { type, secret } = pull.auth;
  if (secret !== null) return { kind: 'replace', secret };
  if (stored !== null && originOf(stored) === originOf(pull) && stored.auth.type === type) return { kind: 'keep' };
  return refused(
    'invalid_request',
    `pull.auth.${SECRET_MEMBERS[type]} must be sent: it is kept for its origin and type alone.`,
  );
}

/** Where requests and their secret go; null without `pull`. */
export function originOf(pull: Pull): string;
export function originOf(pull: Pull | null): string | null;
export function originOf(pull: Pull | null): string | null {
  return pull === null ? null : new URL(pull.url).origin;
}

/** Whether a cursor of the one goes on with the other. */
export function continues(before: Pull | null, after: Pull | null): boolean {
  const progress = (pull: Pull | null) => JSON.stringify(pull && [pull.url, pull.query, pull.paging]);
  return progress(before) === progress(after);
}

/** The name that an encrypted secret is bound to: it is decrypted for no other integration, and not in place of a signing secret. */
export function pullSecretOwner(integrationId: string): string {
  return `pull of integration:${integrationId}`;
}
