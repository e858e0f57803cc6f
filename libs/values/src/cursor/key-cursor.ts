/** A cursor for any sort key, whose parts are texts. */

export function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** The parts of the key; null if the text is not a cursor with that many parts. */
export function decodeCursor(cursor: string, parts: number): readonly string[] | null {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(key) || key.length !== parts) return null;
    return key.every((part) => typeof part === 'string') ? key : null;
  } catch {
    return null;
  }
}
