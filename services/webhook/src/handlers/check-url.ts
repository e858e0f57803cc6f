/**
 * Whether an endpoint may have this URL: public HTTPS. A name is looked up once, as it is saved, and refused if any of its addresses is
 * not public; one that does not resolve is taken. What counts is what the name stands for at each connection (libs/egress): this only
 * tells a developer early.
 */
import { isIP } from 'node:net';
import { type Refused, refused } from '@laurel/errors';
import { type Cidrs, checkUrl, mayConnectTo } from '@laurel/safe-url';

/** The URL as it was given, if an endpoint may have it. */
export type UrlCheck = (text: string) => Promise<string | Refused>;

const SCHEME = 'https://';

export function createUrlCheck({
  resolve,
  allow,
}: {
  /** A name's addresses; none where it does not resolve in time. */
  resolve: (name: string) => Promise<readonly string[]>;
  /** Networks that are not public and may be spoken to all the same. */
  allow: Cidrs;
}): UrlCheck {
  return async (text) => {
    const checked = checkUrl(text, { allow });
    if (!checked.ok) return refused('invalid_request', checked.reason);
    // What is stored is what was written, so it has to begin as the database wants it.
    if (!text.startsWith(SCHEME)) return refused('invalid_request', `The URL must begin with ${SCHEME}.`);
    const { hostname } = checked.url;
    const isName = isIP(hostname) === 0 && !hostname.startsWith('[');
    const addresses = isName ? await resolve(hostname) : [];
    return addresses.every((address) => mayConnectTo(address, allow))
      ? text
      : refused('invalid_request', 'The host has an address that is not public.');
  };
}
