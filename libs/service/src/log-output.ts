/**
 * Where the lines of a process's log go: standard output. Logging never ends the service and never makes it wait:
 *
 * - a full pipe, whose reader is slow: what does not fit waits in memory, up to a limit, and is retried;
 * - a full disk, a reader that is gone, or that limit: lines are lost and counted, and the number is logged once writing works again.
 */
import { writeSync } from 'node:fs';
import { counter } from '@laurel/telemetry';

export interface LogOutput {
  /** Writes immediately, so that the last line before an exit is not lost. */
  write(line: string): void;
  /**
   * Writes all lines of this turn of the event loop in one write: a write costs as much as a tenth of a request, whatever its size
   * (measured).
   */
  writeSoon(line: string): void;
  /** Called once writing works again, with how many lines were lost until then. */
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
  /** Bytes that are not written yet; they may begin inside a line. */
  let waiting: Buffer = Buffer.alloc(0);
  /** The last byte that was written is not the end of a line, and the rest of that line was lost. */
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
