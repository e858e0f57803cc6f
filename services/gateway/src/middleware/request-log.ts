/**
 * Where request lines go: standard output, all lines of one turn of the event loop in one write. A write costs as much as a tenth of a
 * request, whatever it carries (measured). Lines leave within the turn; a process that exits writes the last ones first.
 */
import { writeSync } from 'node:fs';

const STDOUT = 1;
/** When nobody reads the other end, lines wait up to here, and then are dropped: logging never stops the service. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 10;

export interface LineOutput {
  write(line: string): void;
}

/** `writeBytes` is for tests; it answers how many bytes it took. */
export function createLineOutput(
  writeBytes: (bytes: Buffer) => number = (bytes) => writeSync(STDOUT, bytes),
): LineOutput {
  let lines = '';
  let rest: Buffer | undefined;
  let isScheduled = false;

  const flush = () => {
    isScheduled = false;
    rest = rest === undefined ? Buffer.from(lines) : Buffer.concat([rest, Buffer.from(lines)]);
    lines = '';
    try {
      while (rest.length > 0) rest = rest.subarray(writeBytes(rest));
      rest = undefined;
    } catch (error) {
      // A full pipe: its reader is slow. Anything else means that nobody will ever read.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') rest = undefined;
      else if (rest !== undefined && rest.length > MAX_WAITING_BYTES) rest = undefined;
      else {
        isScheduled = true;
        setTimeout(flush, RETRY_MS).unref();
      }
    }
  };
  process.on('exit', flush);

  return {
    write(line) {
      lines += line;
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
  };
}
