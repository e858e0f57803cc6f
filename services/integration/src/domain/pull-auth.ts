/** How a request for a page is authenticated (docs/contract/integrations.md). */
import type { PullAuth } from './descriptor.ts';

/** The header that carries the secret; empty without authentication. */
export function authHeaders(auth: PullAuth, secret: string | null): Readonly<Record<string, string>> {
  if (auth.type === 'none') return {};
  if (secret === null) throw new Error(`there is no secret for requests with ${auth.type} authentication`);
  switch (auth.type) {
    case 'header':
      return { [auth.name.toLowerCase()]: secret };
    case 'bearer':
      return { authorization: `Bearer ${secret}` };
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${auth.username}:${secret}`).toString('base64')}` };
  }
}
