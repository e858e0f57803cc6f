/**
 * Runs one batch, and leaves every item of it answered.
 *
 * A batch that fails is run again item by item, so that one bad item fails alone. Therefore `run`
 * must have no effect when it throws, or be idempotent. Without `isolate` every item gets the
 * error.
 */
import { type CoalescerObserver, currentObserver } from './observer.ts';
import { rejectSubmission, resolveSubmission, type Submission } from './submission.ts';

/** Items that run together, in the order of `run`'s argument and of its results. */
export type Batch<Item, Result> = readonly Submission<Item, Result>[];

/** The options of a coalescer that concern a run; see `CoalescerOptions`. */
export interface RunOptions<Item, Result> {
  readonly name: string;
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly isolate: boolean | ((error: unknown) => boolean);
  readonly onBatch: ((size: number) => void) | undefined;
}

/** Never rejects, and leaves no item of the batch unanswered. */
export async function runBatch<Item, Result>(
  batch: Batch<Item, Result>,
  options: RunOptions<Item, Result>,
): Promise<void> {
  try {
    options.onBatch?.(batch.length);
    const failure = await tryOnce(batch, options);
    if (failure === undefined) return;
    if (batch.length === 1 || !mayIsolate(options, failure.cause)) rejectAll(batch, failure.cause);
    else await replay(batch, options);
  } catch (error) {
    // A callback threw, perhaps the observer: answer the callers before calling it again.
    for (const submission of batch) {
      if (submission.isAnswered) continue;
      submission.isAnswered = true;
      submission.reject(error);
    }
  }
}

/** Replays the batch item by item. Stops at an error that is not the fault of its item. */
async function replay<Item, Result>(batch: Batch<Item, Result>, options: RunOptions<Item, Result>): Promise<void> {
  for (const [index, submission] of batch.entries()) {
    if (submission.isAnswered) continue;
    const failure = await tryOnce([submission], options);
    if (failure === undefined) continue;
    if (!mayIsolate(options, failure.cause)) {
      rejectAll(batch.slice(index), failure.cause);
      return;
    }
    rejectSubmission(submission, failure.cause);
  }
}

/** Runs the items and answers them. If `run` fails, returns its error and answers no item. */
async function tryOnce<Item, Result>(
  batch: Batch<Item, Result>,
  { name, run }: RunOptions<Item, Result>,
): Promise<{ readonly cause: unknown } | undefined> {
  let results: readonly Result[];
  try {
    const items = batch.map((submission) => submission.item);
    const observer = currentObserver();
    results = await (observer === undefined ? run(items) : observedRun(observer, name, batch, () => run(items)));
  } catch (cause) {
    return { cause };
  }
  if (results.length !== batch.length) {
    // A bug in `run`, after its effect: results cannot be matched to items, and a second run could
    // repeat the effect.
    rejectAll(batch, new Error(`${name}: run answered ${results.length} results for ${batch.length} items`));
    return undefined;
  }
  let index = 0;
  for (const result of results) {
    const submission = batch[index];
    index += 1;
    if (submission !== undefined) resolveSubmission(submission, result);
  }
  return undefined;
}

function observedRun<Results>(
  observer: CoalescerObserver,
  name: string,
  batch: Batch<unknown, never>,
  work: () => Promise<Results>,
): Promise<Results> {
  const items = batch.flatMap(({ observed }) => observed ?? []);
  return observer.onRun({ name, size: batch.length, items }, work);
}

function mayIsolate({ isolate }: Pick<RunOptions<never, unknown>, 'isolate'>, error: unknown): boolean {
  return typeof isolate === 'function' ? isolate(error) : isolate;
}

function rejectAll(batch: Batch<unknown, never>, error: unknown): void {
  for (const submission of batch) rejectSubmission(submission, error);
}
