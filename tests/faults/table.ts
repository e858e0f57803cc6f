import { FAILPOINTS, type FailpointName } from '@laurel/failpoint';
import type { FailpointAction } from '@laurel/testing';

/**
 * What is played while a failpoint is armed:
 * `create`, `lose`, `win` are a partner's requests; `expire` is the sandbox's, `void` and `release` are the operator's;
 * `lapse` is an attempt whose time runs out, which the sweeper ends (the partner that "retries" reads it meanwhile);
 * `resolve` is an attempt whose service died before the fee was asked for: the sweeper has the wallet fence it.
 */
export type Flow = 'create' | 'lose' | 'win' | 'expire' | 'void' | 'release' | 'lapse' | 'resolve';

/** The flows that pass each failpoint. A failpoint without a flow does not compile. */
const FLOWS: Readonly<Record<FailpointName, readonly Flow[]>> = {
  'gateway.claim.before-commit': ['create', 'win'],
  'gateway.claim.after-commit': ['create', 'win'],
  'gateway.create.before-call': ['create'],
  'gateway.create.after-call': ['create'],
  'gateway.outcome.before-call': ['lose', 'win'],
  'gateway.outcome.after-call': ['lose', 'win'],
  'gateway.complete.before-commit': ['create', 'win'],
  'gateway.complete.after-commit': ['create', 'win'],
  'gateway.reply.before-send': ['create', 'win'],
  'gateway.reply.after-send': ['create', 'win'],
  'challenge.create.before-commit': ['create'],
  'challenge.create.after-commit': ['create'],
  'challenge.create.before-charge': ['create'],
  'challenge.create.after-charge': ['create'],
  'challenge.open.before-commit': ['create'],
  'challenge.open.after-commit': ['create'],
  'challenge.outcome.before-commit': ['lose', 'win'],
  'challenge.outcome.after-commit': ['lose', 'win'],
  'challenge.award.before-pay': ['win'],
  'challenge.award.after-pay': ['win'],
  'challenge.award.before-commit': ['win'],
  'challenge.award.after-commit': ['win'],
  'challenge.expiry.before-commit': ['expire', 'lapse'],
  'challenge.expiry.after-commit': ['expire', 'lapse'],
  'challenge.refund.before-call': ['expire', 'void', 'lapse'],
  'challenge.refund.after-call': ['expire', 'void', 'lapse'],
  'challenge.refund.before-commit': ['expire', 'void', 'lapse'],
  'challenge.refund.after-commit': ['expire', 'void', 'lapse'],
  'challenge.reply.before-send': ['create', 'win'],
  'wallet.charge.before-commit': ['create'],
  'wallet.charge.after-commit': ['create'],
  'wallet.refund.before-commit': ['expire', 'lapse'],
  'wallet.refund.after-commit': ['expire', 'lapse'],
  'wallet.award.before-commit': ['win'],
  'wallet.award.after-commit': ['win'],
  'wallet.resolve.before-commit': ['resolve'],
  'wallet.resolve.after-commit': ['resolve'],
  'wallet.release.before-commit': ['release'],
  'wallet.release.after-commit': ['release'],
  'wallet.reply.before-send': ['create', 'win', 'expire'],
};

const ACTIONS = ['kill', 'throw', 'delay:400', 'lose-reply'] as const satisfies readonly FailpointAction[];

/** What may go wrong once, and whether the partner asks again with the same key. */
export interface FaultCase {
  readonly failpoint: FailpointName;
  readonly action: FailpointAction;
  readonly flow: Flow;
  readonly retries: boolean;
}

/** The whole table: every failpoint on every flow that passes it, with every action, retried and not. */
const TABLE: readonly FaultCase[] = FAILPOINTS.flatMap((failpoint) =>
  FLOWS[failpoint].flatMap((flow) =>
    ACTIONS.flatMap((action) => [true, false].map((retries) => ({ failpoint, action, flow, retries }))),
  ),
);

/**
 * The subset that `npm test` plays: of every failpoint and flow one case, its action and retry stepping on from row to row
 * (by 3, which visits all eight), so that each action meets each service, retried and not.
 * `LAUREL_FAULTS=all` (`npm run test:faults`) plays the whole table.
 */
const CASES_PER_ROW = ACTIONS.length * 2;
const SUBSET: readonly FaultCase[] = TABLE.filter((_, index) => {
  const row = Math.floor(index / CASES_PER_ROW);
  return index % CASES_PER_ROW === (row * 3) % CASES_PER_ROW;
});

const PLAYED = process.env.LAUREL_FAULTS === 'all' ? TABLE : SUBSET;

/** The cases of one service's failpoints that this run plays; those that wait for the clock run apart. */
export function faultCases(service: 'gateway' | 'challenge' | 'wallet'): readonly FaultCase[] {
  return PLAYED.filter(({ failpoint, flow }) => failpoint.startsWith(`${service}.`) && flow !== 'lapse');
}

/** The cases in which an attempt's time runs out: they need a stack in which it does. */
export function lapseCases(): readonly FaultCase[] {
  return PLAYED.filter(({ flow }) => flow === 'lapse');
}
