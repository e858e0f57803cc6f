/** The hooks through which tracing observes every coalescer of the process. */

/**
 * The observer of coalescers observes an item if `onSubmit` returns an observation. Each run of
 * the item gets that observation in `items`, and `onAnswer` is called when the caller is answered.
 * Callbacks must not throw: their errors fail the batch.
 */
export interface CoalescerObserver<Observed extends ObservedItem = ObservedItem> {
  onSubmit(name: string): Observed | undefined;
  /** The coalescer calls `onRun` instead of `run`; `onRun` then calls `run`. */
  onRun<Results>(
    batch: { readonly name: string; readonly size: number; readonly items: readonly Observed[] },
    run: () => Promise<Results>,
  ): Promise<Results>;
}

export interface ObservedItem {
  onAnswer(error?: unknown): void;
}

let observer: CoalescerObserver | undefined;

/**
 * Sets the one observer of the process; `undefined` removes it. `onRun` gets only observations that
 * the same observer's `onSubmit` returned, because there is no second one.
 */
export function observeCoalescers<Observed extends ObservedItem>(next: CoalescerObserver<Observed> | undefined): void {
  if (next !== undefined && observer !== undefined) throw new Error('the coalescers of this process have an observer');
  observer = next;
}

export function currentObserver(): CoalescerObserver | undefined {
  return observer;
}
