/** Opaque cursors of list pages: the sort key of the last row, encoded so that no caller relies on its parts. */

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

// Every instant that a list sorts by is in these centuries, in which PostgreSQL reads an instant back as it was written.
const INSTANT = /^2\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** A part of a key that is an instant, as `toISOString` writes it; null for any other text, and for a day that does not exist. */
export function decodeInstant(part: string): Date | null {
  if (!INSTANT.test(part)) return null;
  const instant = new Date(part);
  // 31 February is parsed as a day in March.
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === part ? instant : null;
}

/** The page size in force: callers may ask for 1 to `most`; 0, which is what an unset field reads as, means the default. */
export function pageSize(requested: number, most: number, byDefault = 50): number {
  return requested === 0 ? Math.min(byDefault, most) : Math.min(Math.max(Math.trunc(requested), 1), most);
}
