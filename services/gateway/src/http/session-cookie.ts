/**
 * The cookies that carry the token of a session. No script can read such a cookie, browsers do not
 * send it with requests of other sites' pages, and they send it only to the routes of its own area.
 */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request } from 'express';

export interface SessionCookie {
  readonly name: string;
  readonly path: string;
}

export const DEVELOPER_COOKIE: SessionCookie = { name: 'laurel_session', path: '/api/portal' };
export const OPERATOR_COOKIE: SessionCookie = { name: 'laurel_operator', path: '/api/operator' };

/**
 * The `Set-Cookie` header of a cookie that lasts as long as the session. If the token is null, the
 * header removes the cookie.
 */
export function setCookie(
  { name, path }: SessionCookie,
  token: string | null,
  options: { readonly maxAgeSeconds: number; readonly secure: boolean },
): string {
  return stringifySetCookie({
    name,
    value: token ?? '',
    maxAge: token === null ? 0 : options.maxAgeSeconds,
    path,
    httpOnly: true,
    sameSite: 'strict',
    secure: options.secure,
  });
}

/**
 * The token in a request's cookie. Undefined if two cookies have this name: another host of the
 * site may have set one of them, and nothing shows which one.
 */
export function tokenOf(request: Request, { name }: SessionCookie): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const names = cookie.split(';').map((pair) => pair.split('=', 1)[0]?.trim());
  return names.filter((each) => each === name).length === 1 ? parseCookie(cookie)[name] : undefined;
}
