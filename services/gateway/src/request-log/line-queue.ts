/**
 * The lines of the request log that wait to be written, in groups of a program and environment. A
 * stored row has the lines of one group, and costs PostgreSQL little more with ten than with one.
 * So the lines of a group wait for each other, unless there are many.
 *
 * The queue is bounded in lines and in bytes.
 */
import type { LoggedRequest } from '../repository/requests.ts';

export interface LineQueue {
  /** The number of lines that were not taken yet. */
  readonly length: number;
  /** Whether it has no room for another line. */
  readonly isFull: boolean;
  /** Whether lines are due that have not waited long: the queue is crowded, or a group is whole. */
  readonly isPressed: boolean;
  /** False, and nothing is added, if the bodies have no room. `now` in milliseconds. */
  add(line: LoggedRequest, now: number): boolean;
  /** Takes the lines of the next write, at most MAX_BATCH; empty if none is due at `now`. */
  takeDue(now: number): readonly LoggedRequest[];
}

interface Group {
  readonly lines: LoggedRequest[];
  /** When its first line was added. */
  readonly since: number;
}

/** Lines of one write, and of one program and environment that do not wait any longer. */
export const MAX_BATCH = 250;
/** A developer sees a request within a second: after this, FLUSH_MS and the write. */
export const WAIT_MS = 600;
/** The queue holds more than a second of a busy host, in little memory. */
const MAX_LINES = 5_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** A queue that is fuller, in lines or in bytes, lets no line wait for others. */
const WAITING_SHARE = 0.5;

export function createLineQueue(): LineQueue {
  // The oldest first: a group that was taken begins again at the end.
  const groups = new Map<string, Group>();
  /** The groups that have a whole batch. */
  const whole: LoggedRequest[][] = [];
  let length = 0;
  let bytes = 0;

  const isCrowded = () => length > MAX_LINES * WAITING_SHARE || bytes > MAX_BYTES * WAITING_SHARE;
  const taken = (batch: readonly LoggedRequest[]) => {
    length -= batch.length;
    for (const line of batch) bytes -= bytesOf(line);
    return batch;
  };

  return {
    get length() {
      return length;
    },
    get isFull() {
      return length >= MAX_LINES;
    },
    get isPressed() {
      return whole.length > 0 || isCrowded();
    },
    add(line, now) {
      const size = bytesOf(line);
      if (bytes + size > MAX_BYTES) return false;
      const scope = `${line.programId} ${line.environment}`;
      const group = groups.get(scope) ?? { lines: [], since: now };
      group.lines.push(line);
      if (group.lines.length < MAX_BATCH) groups.set(scope, group);
      else {
        groups.delete(scope);
        whole.push(group.lines);
      }
      length += 1;
      bytes += size;
      return true;
    },
    takeDue(now) {
      const batch = whole.shift();
      if (batch !== undefined) return taken(batch);
      const due: LoggedRequest[] = [];
      for (const [scope, group] of groups) {
        const hasWaited = group.since <= now - WAIT_MS;
        if (!(hasWaited || isCrowded()) || due.length + group.lines.length > MAX_BATCH) break;
        groups.delete(scope);
        due.push(...taken(group.lines));
      }
      return due;
    },
  };
}

/** The approximate number of bytes that a line holds. */
function bytesOf({ requestBody, responseBody }: LoggedRequest): number {
  return (requestBody?.length ?? 0) + (responseBody?.length ?? 0);
}
