/**
 * The secret of `pull.auth`. A partner sends it once, and no response ever shows it. It is removed
 * from the descriptor before the descriptor is stored, and is stored encrypted. If a change of the
 * descriptor omits the secret, the stored one is kept only while requests go to the same origin in
 * the same manner: the secret must never reach a server for which the partner did not send it.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Descriptor, Pull } from './descriptor.ts';

/** The secret member of `pull.auth`, by the type of authentication. */
const SECRET_MEMBERS = { header: 'value', bearer: 'token', basic: 'password' } as const;

/** What happens to the stored secret. */
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

/**
 * `stored` is null without a stored secret: for a new integration, or if requests were not
 * authenticated.
 */
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

/** The origin that gets the requests and their secret; null without `pull`. */
export function originOf(pull: Pull): string;
export function originOf(pull: Pull | null): string | null;
export function originOf(pull: Pull | null): string | null {
  return pull === null ? null : new URL(pull.url).origin;
}

/** Whether a cursor of `before` is still valid with `after`. */
export function cursorStaysValid(before: Pull | null, after: Pull | null): boolean {
  const progress = (pull: Pull | null) => JSON.stringify(pull && [pull.url, pull.query, pull.paging]);
  return progress(before) === progress(after);
}

/**
 * The name that an encrypted secret is bound to, so that it can be decrypted for no other
 * integration, and not in place of a signing secret.
 */
export function pullSecretOwner(integrationId: string): string {
  return `pull of integration:${integrationId}`;
}
