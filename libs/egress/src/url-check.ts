/**
 * Whether a developer may give this URL: it must be public HTTPS. The check looks a name up once,
 * when the URL is saved, and refuses it if any address is not public. It accepts a name that does
 * not resolve. It only gives the developer an early answer: the check of each connection
 * (`connector.ts`) is what protects Laurel.
 */
import { isIP } from 'node:net';
import { type Refused, refused } from '@laurel/errors';
import { type Cidrs, checkUrl, mayConnectTo } from '@laurel/untrusted-url';

/** Returns the URL unchanged if a call to it is permitted, else a refusal. */
export type UrlCheck = (text: string) => Promise<string | Refused>;

const SCHEME = 'https://';

export function createUrlCheck({
  resolve,
  allow,
}: {
  /** A name's addresses; none if it does not resolve in time. */
  resolve: (name: string) => Promise<readonly string[]>;
  /** Networks that are not public but that connections may reach. */
  allow: Cidrs;
}): UrlCheck {
  return async (text) => {
    const checked = checkUrl(text, { allow });
    if (!checked.ok) return refused('invalid_request', checked.reason);
    // The database stores the text unchanged, and its constraint requires this beginning.
    if (!text.startsWith(SCHEME)) return refused('invalid_request', `The URL must begin with ${SCHEME}.`);
    const { hostname } = checked.url;
    const isName = isIP(hostname) === 0 && !hostname.startsWith('[');
    const addresses = isName ? await resolve(hostname) : [];
    return addresses.every((address) => mayConnectTo(address, allow))
      ? text
      : refused('invalid_request', 'The host has an address that is not public.');
  };
}
