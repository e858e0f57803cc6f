/** The filter of the request log for a frequent error: one without a code is named "http_429". */
export function filterOf(code: string): Readonly<Record<string, string>> {
  const [, status] = /^http_([45])\d\d$/.exec(code) ?? [];
  return status === undefined ? { error_code: code } : { status: `${status}xx` };
}
