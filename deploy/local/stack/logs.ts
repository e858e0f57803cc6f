/** The logs of a stack: they name players and failures, so only their owner can read them; and a full disk stops no process. */
import { chmodSync, mkdirSync, openSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Closes the folder and the files in it to other users, also those that an older release left open. */
export function makeLogDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isFile()) chmodSync(join(directory, entry.name), 0o600);
  }
}

/** The output of a process, as spawn takes it; none if the file cannot be opened, which is reported. */
export function openLog(file: string, print: (line: string) => void): number | 'ignore' {
  try {
    rotateLog(file);
    return openSync(file, 'a', 0o600);
  } catch (error) {
    print(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}): what would stand in it is lost.`);
    return 'ignore';
  }
}

/** A log that has grown large is renamed to the one previous log; so a service never keeps more than two files. */
export function rotateLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
}
