/**
 * Whether a developer may give this URL: public HTTPS. A name is looked up once, when the URL is saved, and refused if any of its addresses
 * is not public; one that does not resolve is accepted. The check that protects us is the one of the name's addresses at each connection
 * (`connector.ts`): this one only gives the developer an early answer.
 */
import { isIP } from 'node:net';
import { type Refused, refused } from '@laurel/errors';
import { type Cidrs, checkUrl, mayConnectTo } from '@laurel/untrusted-url';

/** The URL as it was given, if it is permitted. */
export type UrlCheck = (text: string) => Promise<string | Refused>;

const SCHEME = 'https://';

export function createUrlCheck({
  resolve,
  allow,
}: {
  /** A name's addresses; none where it does not resolve in time. */
  resolve: (name: string) => Promise<readonly string[]>;
  /** Networks that are not public and may be connected to nevertheless. */
  allow: Cidrs;
}): UrlCheck {
  return async (text) => {
    const checked = checkUrl(text, { allow });
    if (!checked.ok) return refused('invalid_request', checked.reason);
    // The text is stored as given, so it must begin as the database's constraint requires.
    if (!text.startsWith(SCHEME)) return refused('invalid_request', `The URL must begin with ${SCHEME}.`);
    const { hostname } = checked.url;
    const isName = isIP(hostname) === 0 && !hostname.startsWith('[');
    const addresses = isName ? await resolve(hostname) : [];
    return addresses.every((address) => mayConnectTo(address, allow))
      ? text
      : refused('invalid_request', 'The host has an address that is not public.');
  };
}
