/**
 * Writes a process's log to standard output. Logging never ends the service and never blocks it:
 *
 * - A slow reader fills the pipe: the rest waits in memory, up to a limit, and is retried.
 * - The disk is full, the reader is gone, or the limit is reached: lines are lost and counted. The
 *   count is logged once writing works again.
 */
import { writeSync } from 'node:fs';
import { counter } from '@laurel/telemetry';

export interface LogOutput {
  /** Writes immediately, so that the last line before an exit is not lost. */
  write(line: string): void;
  /**
   * Writes all lines of this turn of the event loop at once: a write of any size costs as much as a
   * tenth of a request (measured).
   */
  writeSoon(line: string): void;
  /** This is called once writing works again, with the number of lines lost until then. */
  onRecovered: ((lostLines: number) => void) | undefined;
}

const STDOUT = 1;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 10;
const NEWLINE = 0x0a;

/** `writeBytes` is for tests; it returns how many bytes it accepted. */
export function createLogOutput(
  writeBytes: (bytes: Buffer) => number = (bytes) => writeSync(STDOUT, bytes),
): LogOutput {
  const lost = counter('laurel_log_lines_lost_total', 'Lines of the log that could not be written.');
  let gathered = '';
  /** Bytes to be written; they may begin inside a line. */
  let waiting: Buffer = Buffer.alloc(0);
  /** The last byte written is inside a line whose rest was lost. */
  let isTorn = false;
  let isInsideLine = false;
  let isScheduled = false;
  let retry: NodeJS.Timeout | undefined;
  let lostSinceRecovery = 0;

  const lose = () => {
    const lines = waiting.reduce((count, byte) => (byte === NEWLINE ? count + 1 : count), 0);
    lost.inc(lines);
    lostSinceRecovery += lines;
    waiting = Buffer.alloc(0);
    isTorn = isInsideLine;
  };

  const flush = (): void => {
    const lines = Buffer.from(gathered);
    gathered = '';
    waiting = waiting.length > 0 ? Buffer.concat([waiting, lines]) : lines;
    try {
      // A newline ends the partly lost line for the reader too.
      if (isTorn) writeBytes(Buffer.of(NEWLINE));
      isTorn = false;
      while (waiting.length > 0) {
        const written = writeBytes(waiting);
        if (written > 0) isInsideLine = waiting[written - 1] !== NEWLINE;
        waiting = waiting.subarray(written);
      }
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
      if (!isFull || waiting.length > MAX_WAITING_BYTES) lose();
      else {
        retry = setTimeout(() => {
          retry = undefined;
          flush();
        }, RETRY_MS).unref();
      }
      return;
    }
    if (lostSinceRecovery === 0) return;
    const lostLines = lostSinceRecovery;
    lostSinceRecovery = 0;
    output.onRecovered?.(lostLines);
  };
  process.on('exit', flush);

  const output: LogOutput = {
    write(line) {
      gathered += line;
      if (retry === undefined) flush();
    },
    writeSoon(line) {
      gathered += line;
      if (isScheduled || retry !== undefined) return;
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        if (retry === undefined) flush();
      });
    },
    onRecovered: undefined,
  };
  return output;
}

/** Standard output of this process. Code that bypasses it may write into the middle of a line. */
export const standardOutput: LogOutput = createLogOutput();
