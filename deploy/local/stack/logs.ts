/**
 * The logs of a stack. They name players and failures, so only their owner can read them. A full
 * disk stops no process.
 */
import { chmodSync, mkdirSync, openSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Closes the folder and its files to other users, also files that an older release left open. */
export function makeLogDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isFile()) chmodSync(join(directory, entry.name), 0o600);
  }
}

/**
 * Opens the log for the output of a process, in the form that spawn takes. If the file cannot be
 * opened, reports that and returns 'ignore'.
 */
export function openLog(file: string, print: (line: string) => void): number | 'ignore' {
  try {
    rotateLog(file);
    return openSync(file, 'a', 0o600);
  } catch (error) {
    print(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}): the log of this process is lost.`);
    return 'ignore';
  }
}

/** Renames a large log to the one previous log, so that a service never has more than two files. */
export function rotateLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
}
