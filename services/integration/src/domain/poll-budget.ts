/**
 * What a program may have read of polled pages, in each environment and process: its pages' bytes, and what reading them cost beyond that
 * (`costOf`). A program beyond it is polled again once it has enough for a page; a poll that is under way ends with the page that it has.
 */
import { createTenantBudgets, type Tenant } from '@laurel/tenant';

export interface PollBudget {
  mayPoll(tenant: Tenant, now: Date): boolean;
  take(tenant: Tenant, bytes: number, now: Date): void;
}

const MIB = 1_048_576;
export const POLLED_BYTES_PER_SECOND = { test: MIB, live: 16 * MIB };

export function createPollBudget(): PollBudget {
  const budgets = createTenantBudgets(POLLED_BYTES_PER_SECOND);
  return {
    // More than nothing: what a page has is known once it is read.
    mayPoll: (tenant, now) => budgets.waitFor(tenant, 1, now.getTime()) === 0,
    take: (tenant, bytes, now) => budgets.take(tenant, bytes, now.getTime()),
  };
}
