/**
 * Where `listen` has got to, in a file of the working folder: a cursor belongs to a receiver, and each project has its own. It holds no
 * secret. It is replaced whole, so that a kill leaves the one before or the next one.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { CommandError } from './command.ts';

export const CURSOR_FILE = '.laurel-listen.json';

/** Null where there is none. */
export async function readCursor(file: string, baseUrl: string): Promise<string | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandError(`${file} could not be read (${(error as Error).message}).`);
  }
  const saved = parseSaved(text);
  if (saved === null) throw new CommandError(`${file} is damaged: begin again with --from now or --from oldest.`);
  if (saved.base_url !== baseUrl) {
    throw new CommandError(`${file} is of ${saved.base_url}: begin at this host with --from now or --from oldest.`);
  }
  return saved.cursor;
}

export async function writeCursor(file: string, baseUrl: string, cursor: string): Promise<void> {
  const next = `${file}.${process.pid}`;
  await writeFile(next, `${JSON.stringify({ base_url: baseUrl, cursor })}\n`);
  await rename(next, file);
}

function parseSaved(text: string): { readonly base_url: string; readonly cursor: string } | null {
  try {
    const { base_url, cursor } = JSON.parse(text);
    return typeof base_url === 'string' && typeof cursor === 'string' ? { base_url, cursor } : null;
  } catch {
    return null;
  }
}
