/**
 * What has changed in an item since a page showed it, and which operator changed it. The log of
 * actions has the item before and after each action, so that no clock is compared with another.
 */
import type { OperatorAction } from '../../api/api-types.ts';

/** A fact on which a decision about an item depends, in the words of the page. */
export interface Fact<T> {
  readonly label: string;
  readonly of: (item: T) => string;
}

export interface ChangeSince {
  readonly label: string;
  readonly from: string;
  readonly to: string;
  /** Null if Laurel changed it by itself, or if the log does not say. */
  readonly by: { readonly operator: string; readonly at: string } | null;
}

/** A done action of the log: the members of the item as they were before it and after it. */
export interface Logged {
  readonly actor: string;
  readonly at: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The facts whose words differ. */
export function changesSince<T>(shown: T, now: T, facts: readonly Fact<T>[]): readonly ChangeSince[] {
  return facts
    .map(({ label, of }) => ({ label, from: of(shown), to: of(now), by: null }))
    .filter(({ from, to }) => from !== to);
}

/**
 * Adds to each change the operator who made it: the actor of the newest action after which the fact
 * has its present words.
 */
export function withAuthors<T>(
  changes: readonly ChangeSince[],
  facts: readonly Fact<T>[],
  newestFirst: readonly Logged[],
): readonly ChangeSince[] {
  return changes.map((change) => {
    const fact = facts.find(({ label }) => label === change.label);
    const made = newestFirst.find(({ before, after }) => {
      const then = wordsIn(fact, before);
      return then !== undefined && then !== change.to && wordsIn(fact, after) === change.to;
    });
    return made === undefined ? change : { ...change, by: { operator: made.actor, at: made.at } };
  });
}

/**
 * The done actions of the log. `asItem` puts the subject of an action into the item's shape: the
 * account of a payout, for example, is one member of the payout.
 */
export function loggedOf(
  actions: readonly OperatorAction[],
  asItem: (subject: unknown) => unknown = (subject) => subject,
): readonly Logged[] {
  return actions
    .filter(({ outcome }) => outcome === 'done')
    .map(({ actor, at, before, after }) => ({ actor, at, before: asItem(before), after: asItem(after) }));
}

/** Returns the fact's words; undefined if the log has too little of the item. */
function wordsIn<T>(fact: Fact<T> | undefined, recorded: unknown): string | undefined {
  try {
    return fact?.of(recorded as T);
  } catch {
    return undefined;
  }
}
