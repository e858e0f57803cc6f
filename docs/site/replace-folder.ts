import { mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Moves `built` to `place`, and the previous folder into `aside`. Between the two renames `place`
 * is missing. If another process fills it at that moment, that process was first, and its folder is
 * moved aside too.
 */
export function replaceFolder(place: string, built: string, aside: string): void {
  for (;;) {
    tryRename(place, join(mkdtempSync(join(aside, 'earlier-')), 'folder'), ['ENOENT']);
    if (tryRename(built, place, ['ENOTEMPTY', 'EEXIST'])) return;
  }
}

/** Renames; false if that fails with one of the codes. */
function tryRename(from: string, to: string, codes: readonly string[]): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
}
