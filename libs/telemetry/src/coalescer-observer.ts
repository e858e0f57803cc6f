/**
 * Shows coalescers in traces. A batch serves many requests, but a span has one parent. So:
 *
 * - `await <name>` is the wait of one span's items, from the first submission to the last result. A
 *   call has one such span however many items it submits, because they wait for the same batches.
 * - `run <name>` is a batch. It is in the trace of the first span that waits for it, and links to
 *   all that wait; each of the others links back. A trace thus contains the work done for it, down
 *   to the last database, or links to the trace that does.
 *
 * A batch that no traced span waits for is in no trace, even if the callback that starts it ran
 * inside one.
 */
import type { CoalescerObserver, ObservedItem } from '@laurel/coalesce';
import { errorTypeOf, inSpan, type Span, type Tracer } from './tracer.ts';

class Wait implements ObservedItem {
  readonly span: Span;
  readonly #onEnd: () => void;
  #items = 0;
  #unanswered = 0;
  #failure: string | undefined;

  constructor(span: Span, onEnd: () => void) {
    this.span = span;
    this.#onEnd = onEnd;
  }

  add(): void {
    this.#items += 1;
    this.#unanswered += 1;
  }

  onAnswer(error?: unknown): void {
    if (error !== undefined) this.#failure ??= errorTypeOf(error);
    this.#unanswered -= 1;
    if (this.#unanswered > 0) return;
    this.#onEnd();
    this.span.set({ 'laurel.items': this.#items });
    this.span.end(this.#failure);
  }
}

export function createCoalescerObserver(tracer: Tracer): CoalescerObserver<Wait> {
  const waitsOf = new WeakMap<Span, Map<string, Wait>>();

  return {
    onSubmit(name) {
      const parent = tracer.active();
      if (parent === undefined) return undefined;
      let waits = waitsOf.get(parent);
      if (waits === undefined) {
        waits = new Map();
        waitsOf.set(parent, waits);
      }
      let wait = waits.get(name);
      if (wait === undefined) {
        wait = new Wait(parent.child('internal', `await ${name}`), () => waits.delete(name));
        waits.set(name, wait);
      }
      wait.add();
      return wait;
    },

    async onRun({ name, size, items }, run) {
      const waits = new Set(items);
      const [first] = waits;
      if (first === undefined) return await tracer.outside(run);
      const span = first.span.child('internal', `run ${name}`, { 'laurel.items': size });
      for (const wait of waits) {
        span.linkTo(wait.span);
        if (wait !== first) wait.span.linkTo(span);
      }
      return await inSpan(span, run);
    },
  };
}
