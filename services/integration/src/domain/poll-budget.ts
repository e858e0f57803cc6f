/**
 * A program's budget for polled pages, per environment and process: the bytes of the pages, and
 * what else reading them cost (`recordsCostOf`). A program beyond its budget is polled again once
 * it has enough for a page. A poll in flight ends after its current page.
 */
import { createTenantBudgets, type Tenant } from '@laurel/values/tenant';

export interface PollBudget {
  mayPoll(tenant: Tenant, now: Date): boolean;
  take(tenant: Tenant, bytes: number, now: Date): void;
}

const MIB = 1_048_576;
export const POLLED_BYTES_PER_SECOND = { test: MIB, live: 16 * MIB };

export function createPollBudget(): PollBudget {
  const budgets = createTenantBudgets(POLLED_BYTES_PER_SECOND);
  return {
    // One free byte is enough to begin a poll: a page's size is known only once the page is read.
    mayPoll: (tenant, now) => budgets.waitFor(tenant, 1, now.getTime()) === 0,
    take: (tenant, bytes, now) => budgets.take(tenant, bytes, now.getTime()),
  };
}
