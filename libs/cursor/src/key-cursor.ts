/** The cursor of a list of any sort key: the key's parts as texts. */

export function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** The parts of the key; null when the text is no cursor with that many parts. */
export function decodeCursor(cursor: string, parts: number): readonly string[] | null {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(key) || key.length !== parts) return null;
    return key.every((part) => typeof part === 'string') ? key : null;
  } catch {
    return null;
  }
}
