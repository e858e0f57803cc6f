/**
 * The one-time token of `/portal/sign-in#token`. It leaves the address before anything else runs,
 * so no entry of the history contains a token.
 */
const SIGN_IN_PATH = '/portal/sign-in';

let token = takeFromAddress();

/** The token, once; undefined if the page was not opened by a link. */
export function takeLinkToken(): string | undefined {
  const taken = token;
  token = undefined;
  return taken;
}

function takeFromAddress(): string | undefined {
  const { pathname, hash } = window.location;
  if (pathname !== SIGN_IN_PATH || hash.length < 2) return undefined;
  window.history.replaceState(null, '', pathname);
  return hash.slice(1);
}
