/** Opaque cursors of list pages: the sort key of the last row, wrapped so that no caller comes to rely on what is in it. */

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

/** The page size in force: callers may ask for 1 to `most`; 0, which is what an unset field reads as, means the default. */
export function pageSize(asked: number, most: number, byDefault = 50): number {
  return asked === 0 ? Math.min(byDefault, most) : Math.min(Math.max(Math.trunc(asked), 1), most);
}
