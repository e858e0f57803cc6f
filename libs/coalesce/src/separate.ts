/**
 * One coalescer for each group, with its own queue, lanes and limits: no item waits behind another
 * group's, and no batch mixes groups. It keeps test traffic apart from live traffic
 * (docs/decisions/0033-keep-test-traffic-apart.md).
 */
import { ENVIRONMENTS, type Environment } from '@laurel/values/tenant';
import type { Coalescer } from './coalescer.ts';

export function createSeparateCoalescers<Item, Result, Group extends string>(options: {
  readonly groups: readonly Group[];
  readonly groupOf: (item: Item) => Group;
  readonly create: (group: Group) => Coalescer<Item, Result>;
}): Coalescer<Item, Result> {
  const { groups, groupOf, create } = options;
  const coalescers = new Map(groups.map((group) => [group, create(group)]));

  return {
    submit(item, submitOptions) {
      const coalescer = coalescers.get(groupOf(item));
      if (coalescer === undefined) throw new Error('an item is of no known group');
      return coalescer.submit(item, submitOptions);
    },
    async drain() {
      await Promise.all([...coalescers.values()].map((coalescer) => coalescer.drain()));
    },
    get queued() {
      return [...coalescers.values()].reduce((sum, { queued }) => sum + queued, 0);
    },
  };
}

/** Creates one coalescer for live and one for test: no live item waits behind a test item. */
export function createCoalescersByEnvironment<Item, Result>(options: {
  readonly environmentOf: (item: Item) => Environment;
  readonly create: (environment: Environment) => Coalescer<Item, Result>;
}): Coalescer<Item, Result> {
  const { environmentOf, create } = options;
  return createSeparateCoalescers<Item, Result, Environment>({ groups: ENVIRONMENTS, groupOf: environmentOf, create });
}
