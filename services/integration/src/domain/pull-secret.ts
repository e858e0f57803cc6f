/**
 * The secret of `pull.auth`: a partner sends it, and it is never shown again. It is split off the descriptor before that is stored, and kept
 * encrypted. A change of the descriptor may leave it out to keep it, as long as requests go to the same origin in the same manner: it must
 * never reach a server that the partner did not send it for.
 */
import { type Refused, refused } from '@laurel/errors';

/** The member of `pull.auth` that is secret, by the type of authentication. */
const SECRET_MEMBERS = { header: 'value', bearer: 'token', basic: 'password' } as const;

type AuthType = keyof typeof SECRET_MEMBERS;

/** What a descriptor says about polls, without the secret. */
export type PullSettings = {
  /** Null without `pull`. */
  readonly url: string | null;
  readonly origin: string | null;
  /** Null for requests without authentication. */
  readonly authType: AuthType | null;
  /** What decides where a poll goes on; a cursor is of no use to another. */
  readonly progress: string;
};

export type SplitDescriptor = {
  /** Without the secret. */
  readonly text: string;
  readonly pull: PullSettings;
  /** Null where it was not sent. */
  readonly secret: string | null;
};

/** What becomes of the stored secret. */
export type SecretChange =
  | { readonly kind: 'replace'; readonly secret: string }
  | { readonly kind: 'keep' }
  | { readonly kind: 'remove' };

/** Of a valid descriptor. */
export function splitPullSecret(descriptor: object): SplitDescriptor {
  const pull = memberOf(descriptor, 'pull');
  const auth = memberOf(pull, 'auth');
  const authType = authTypeOf(auth);
  const { [authType === null ? '' : SECRET_MEMBERS[authType]]: secret, ...shownAuth } = auth ?? {};
  const shown =
    auth === undefined || authType === null ? descriptor : { ...descriptor, pull: { ...pull, auth: shownAuth } };
  const url = typeof pull?.url === 'string' ? pull.url : null;
  return {
    text: JSON.stringify(shown),
    pull: {
      url,
      origin: url === null ? null : new URL(url).origin,
      authType,
      progress: JSON.stringify([url, pull?.query, pull?.paging]),
    },
    secret: typeof secret === 'string' ? secret : null,
  };
}

/** `stored` is null for a new integration, and where it has no secret. */
export function decidePullSecret(
  { pull, secret }: Pick<SplitDescriptor, 'pull' | 'secret'>,
  stored: Pick<PullSettings, 'origin' | 'authType'> | null,
): SecretChange | Refused {
  if (pull.authType === null) return { kind: 'remove' };
  if (secret !== null) return { kind: 'replace', secret };
  if (stored?.origin === pull.origin && stored.authType === pull.authType) return { kind: 'keep' };
  return refused('invalid_request', `pull.auth.${SECRET_MEMBERS[pull.authType]} is required for this origin.`);
}

/** The name that an encrypted secret is bound to: it is decrypted for no other integration, and not in place of a signing secret. */
export function pullSecretOwner(integrationId: string): string {
  return `pull of integration:${integrationId}`;
}

function authTypeOf(auth: Readonly<Record<string, unknown>> | undefined): AuthType | null {
  const type = auth?.type;
  return type === 'header' || type === 'bearer' || type === 'basic' ? type : null;
}

function memberOf(object: object | undefined, name: string): Readonly<Record<string, unknown>> | undefined {
  const member: unknown = object === undefined ? undefined : Reflect.get(object, name);
  return typeof member === 'object' && member !== null ? (member as Readonly<Record<string, unknown>>) : undefined;
}
