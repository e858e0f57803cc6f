/** Strings inside text that is known to be JSON. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The index of the closing quote of the string whose first character is at `start`. */
export function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) return end;
    end += code === BACKSLASH ? 2 : 1;
  }
}

/** The name that stands between two quotes. */
export function nameOf(sent: string): string {
  return sent.includes('\\') ? (JSON.parse(`"${sent}"`) as string) : sent;
}
