/**
 * The position of `listen`, in a file of the working folder: a position belongs to one receiver,
 * and each project has its own. The file holds no secret. It is replaced as a whole, so that a
 * killed process leaves either the old or the new position.
 *
 * The file belongs to the `listen` that began last, and names the session of that `listen`. An
 * earlier `listen` ends when it finds another session in the file. Neither a lock nor a process id
 * would do: a lock would outlive a killed process, and a process id may belong to another process
 * after a restart, or inside a container.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseStrictJson } from '../strict-json.ts';
import { CommandError } from './command.ts';
import type { PageStart } from './sandbox-events.ts';

export const CURSOR_FILE = '.laurel-listen.json';

/**
 * The API, the receiver and the filter to which a position belongs. With another receiver or
 * filter, the position would skip events that were never sent there.
 */
export interface CursorScope {
  readonly base_url: string;
  readonly forward_to: string;
  /** Sorted; null means all. */
  readonly events: readonly string[] | null;
}

interface Saved extends CursorScope {
  readonly session: string;
  readonly start: PageStart;
}

export class CursorFile {
  readonly #file: string;
  readonly #scope: CursorScope;
  readonly #session = randomUUID();

  constructor(file: string, scope: CursorScope) {
    this.#file = file;
    this.#scope = scope;
  }

  /**
   * Where to continue; null without a file. Throws for a position of another scope, which must not
   * be overwritten either.
   */
  async read(): Promise<PageStart | null> {
    const saved = await this.#load();
    if (saved === null) return null;
    const difference = differenceOf(saved, this.#scope);
    if (difference === null) return saved.start;
    throw new CommandError(
      `${this.#file} holds the position of a listen ${difference}: name another file with --cursor-file, or delete this one.`,
    );
  }

  /**
   * Stores where this `listen` begins, which ends any other `listen` with this file. Another scope
   * may have been stored while this one waited for Laurel.
   */
  async begin(start: PageStart): Promise<void> {
    await this.read();
    await this.#write(start);
  }

  async moveTo(cursor: string): Promise<void> {
    await this.requireOwn();
    await this.#write({ after: cursor });
  }

  /** Throws if another `listen` has begun with the file. */
  async requireOwn(): Promise<void> {
    const saved = await this.#load();
    if (saved === null || saved.session === this.#session) return;
    throw new CommandError(
      `Another listen has begun with ${this.#file}, so this one ends: give each a file of its own with --cursor-file.`,
    );
  }

  async #write(start: PageStart): Promise<void> {
    const next = `${this.#file}.${process.pid}`;
    const saved: Saved = { ...this.#scope, session: this.#session, start };
    try {
      await writeFile(next, `${JSON.stringify(saved)}\n`);
      await rename(next, this.#file);
    } catch (error) {
      throw new CommandError(`${this.#file} could not be written (${(error as Error).message}).`);
    }
  }

  async #load(): Promise<Saved | null> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new CommandError(`${this.#file} could not be read (${(error as Error).message}).`);
    }
    const saved = parseSaved(text);
    if (saved !== null) return saved;
    throw new CommandError(`${this.#file} is damaged: delete it, and begin with --from now or --from oldest.`);
  }
}

/**
 * How the `listen` that wrote the file was started differently from this one; null if it was not.
 */
function differenceOf(saved: CursorScope, own: CursorScope): string | null {
  if (saved.base_url !== own.base_url) return `to ${saved.base_url}`;
  if (saved.forward_to !== own.forward_to) return `with --forward-to ${saved.forward_to}`;
  if (String(saved.events) === String(own.events)) return null;
  return saved.events === null ? 'without --events' : `with --events ${saved.events}`;
}

/**
 * Reads the start in a file. Throws if it is invalid: writing the file again would lose the
 * position.
 */
function startOf(start: { readonly after?: unknown; readonly from?: unknown }): PageStart {
  if (typeof start.after === 'string' && start.after !== '') return { after: start.after };
  if (start.after === undefined && start.from === 'oldest') return { from: 'oldest' };
  throw new TypeError('this is not a position');
}

function parseSaved(text: string): Saved | null {
  try {
    const { base_url, forward_to, events, session, start } = parseStrictJson(text) as Saved;
    const isWhole =
      [base_url, forward_to, session, ...(events ?? [])].every((value) => typeof value === 'string') &&
      (events === null || Array.isArray(events));
    return isWhole ? { base_url, forward_to, events, session, start: startOf(start) } : null;
  } catch {
    return null;
  }
}
