/** The errors with which a coalescer rejects an item without its result. */

/** The queue is so long that another item would miss its deadline; the item had no effect. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** The item's deadline passed; whether it took effect is not known. */
export class ItemDeadlineError extends Error {
  override readonly name = 'ItemDeadlineError';
}

/** An item or a batch was about to take a step that does not exist: a bug in this library. */
export class BrokenInvariantError extends Error {
  override readonly name = 'BrokenInvariantError';
}
