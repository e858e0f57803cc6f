/**
 * Writes items as messages: all items that become ready in one turn of the event loop, or during a
 * write, share one message.
 *
 * States
 * idle        nothing waits.
 * scheduled   items wait for the end of the turn, when the callbacks of all resolved promises have
 *             run.
 * writing     one message is being written; new items gather for the next one, which follows it.
 * stopped     for good: items that wait, and items pushed later, are dropped.
 *
 * Limits
 * A message closes when it reaches MESSAGE_BYTES; a larger item is written alone. One message is
 * under way at a time, besides those of `flush`. The number of waiting items has no limit here: it
 * is the number of calls in flight.
 *
 * Invariants
 * Items are written once each, in the order in which they were pushed. No message is empty.
 */
const MESSAGE_BYTES = 1024 * 1024;

export type FrameWriter<Item> = {
  push(item: Item): void;
  /** Writes the waiting items, without waiting for the write under way. */
  flush(): void;
  stop(): void;
};

/** `write` calls `onWritten` once, when its message has been written. */
export function createFrameWriter<Item>(options: {
  readonly sizeOf: (item: Item) => number;
  readonly write: (items: readonly Item[], onWritten: () => void) => void;
}): FrameWriter<Item> {
  let state: 'idle' | 'scheduled' | 'writing' | 'stopped' = 'idle';
  let waiting: Item[] = [];

  /** The items of one message: at least one. */
  const take = (): Item[] => {
    let bytes = 0;
    let count = 0;
    for (const item of waiting) {
      bytes += options.sizeOf(item);
      if (count > 0 && bytes > MESSAGE_BYTES) break;
      count += 1;
    }
    if (count < waiting.length) return waiting.splice(0, count);
    const items = waiting;
    waiting = [];
    return items;
  };

  const writeNext = (from: 'scheduled' | 'writing'): void => {
    if (state === 'stopped') return;
    if (state !== from) throw new Error(`a frame writer that is ${state} was treated as ${from}`);
    state = waiting.length > 0 ? 'writing' : 'idle';
    if (state === 'writing') options.write(take(), onWritten);
  };
  const onTurnEnd = () => writeNext('scheduled');
  const onWritten = () => writeNext('writing');

  return {
    push(item) {
      if (state === 'stopped') return;
      waiting.push(item);
      if (state !== 'idle') return;
      state = 'scheduled';
      process.nextTick(onTurnEnd);
    },
    flush() {
      while (state !== 'stopped' && waiting.length > 0) options.write(take(), () => undefined);
    },
    stop() {
      state = 'stopped';
      waiting = [];
    },
  };
}
