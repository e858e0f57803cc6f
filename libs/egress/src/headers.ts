import { isCallersHeader } from '@laurel/untrusted-url';

/** The headers in undici's form. Throws TypeError for one that a caller may not set. */
export function requestHeaders(headers: Readonly<Record<string, string>>): string[] {
  const list = ['accept-encoding', 'identity'];
  for (const name in headers) {
    if (!isCallersHeader(name)) throw new TypeError(`The header ${name} cannot be given.`);
    list.push(name, headers[name] ?? '');
  }
  return list;
}
