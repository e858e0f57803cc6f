/** Writes what becomes ready in one turn of the event loop, or while a write is under way, as one message. */

/** A message closes when it has reached this size. Smaller messages of one turn share theirs. */
const FRAME_BYTES = 1024 * 1024;

export type FrameWriter<Item> = {
  push(item: Item): void;
  /** Writes what waits now, without waiting for the write under way. */
  flush(): void;
  /** Drops what waits and all that comes. */
  stop(): void;
};

/** `write` says when its message has left; until then what comes is gathered. A message is never empty. */
export function createFrameWriter<Item>(options: {
  sizeOf: (item: Item) => number;
  write: (items: readonly Item[], onWritten: () => void) => void;
}): FrameWriter<Item> {
  let waiting: Item[] = [];
  let isScheduled = false;
  let isWriting = false;
  let isStopped = false;

  /** As many as one message carries: one at least. */
  const take = (): Item[] => {
    let bytes = 0;
    let count = 0;
    for (const item of waiting) {
      bytes += options.sizeOf(item);
      if (count > 0 && bytes > FRAME_BYTES) break;
      count += 1;
    }
    if (count < waiting.length) return waiting.splice(0, count);
    const items = waiting;
    waiting = [];
    return items;
  };

  const writeNext = (): void => {
    isScheduled = false;
    if (isWriting || isStopped || waiting.length === 0) return;
    isWriting = true;
    options.write(take(), onWritten);
  };

  const onWritten = (): void => {
    isWriting = false;
    writeNext();
  };

  return {
    push(item) {
      if (isStopped) return;
      waiting.push(item);
      if (isScheduled || isWriting) return;
      isScheduled = true;
      // Runs when all promises of this turn that are settled by now have been followed.
      process.nextTick(writeNext);
    },
    flush() {
      while (!isStopped && waiting.length > 0) options.write(take(), () => undefined);
    },
    stop() {
      isStopped = true;
      waiting = [];
    },
  };
}
