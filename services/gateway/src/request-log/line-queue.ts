/**
 * The lines of the request log that wait to be written, in groups of a program and environment. A
 * stored row has lines of one group. A row of ten lines costs PostgreSQL little more than a row of
 * one line. So the lines of a group wait for further lines of the group, unless the queue is
 * crowded.
 *
 * The queue is bounded in lines and in bytes.
 */
import type { LoggedRequest } from '../repository/requests.ts';

export interface LineQueue {
  /** The number of lines that are in the queue. */
  readonly length: number;
  /** Whether the queue has no room for another line. */
  readonly isFull: boolean;
  /**
   * Whether lines are due before they have waited: the queue is crowded, or a group has a whole
   * batch.
   */
  readonly isPressed: boolean;
  /**
   * Adds a line. Returns false, and adds nothing, if there is no room for the texts of the line.
   * `now` is in milliseconds.
   */
  add(line: LoggedRequest, now: number): boolean;
  /** Takes the lines of the next write, at most MAX_BATCH; empty if none is due at `now`. */
  takeDue(now: number): readonly LoggedRequest[];
}

interface Group {
  readonly lines: LoggedRequest[];
  /** When the first line of the group was added. */
  readonly since: number;
}

/** The most lines of one write. A group with this many lines is due immediately. */
export const MAX_BATCH = 250;
/**
 * How long a line waits for others of its group. A developer sees a request within a second: after
 * this time, FLUSH_MS and the write.
 */
export const WAIT_MS = 600;
/** The queue holds more than a second of a busy host, in little memory. */
const MAX_LINES = 5_000;
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * If the queue is fuller than this, in lines or in bytes, it is crowded, and no line waits for
 * others.
 */
const WAITING_SHARE = 0.5;

export function createLineQueue(): LineQueue {
  // The oldest group first. After a group was taken, its next line begins a new group at the end.
  const groups = new Map<string, Group>();
  /** The batches of groups that have as many lines as a batch may have. */
  const wholeBatches: LoggedRequest[][] = [];
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
      return wholeBatches.length > 0 || isCrowded();
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
        wholeBatches.push(group.lines);
      }
      length += 1;
      bytes += size;
      return true;
    },
    takeDue(now) {
      const batch = wholeBatches.shift();
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

/** The approximate number of bytes that the texts of a line hold. */
function bytesOf({ requestBody, responseBody, path, idempotencyKey, userAgent }: LoggedRequest): number {
  const ofBodies = (requestBody?.length ?? 0) + (responseBody?.length ?? 0);
  return ofBodies + path.length + (idempotencyKey?.length ?? 0) + (userAgent?.length ?? 0);
}
