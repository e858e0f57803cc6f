import type { FailpointAction } from '@laurel/testing';
import { FAILPOINTS, type FailpointName } from './points.ts';

/**
 * The flows on a challenge while a failpoint is armed:
 * `create`, `lose` and `win` are a partner's requests; `expire` is the sandbox's; `void` and
 * `release` are the operator's.
 * `lapse` is an attempt whose time runs out, which the sweeper ends (the partner that "retries"
 * reads it meanwhile).
 * `resolve` is an attempt whose service died before it asked for the fee: the sweeper has the
 * wallet record a tombstone for its id.
 * `again` is a create of a player who has played there before, which services decide from cached
 * facts (as they do a `lose` and a `win`).
 * `late` is a win whose service was restarted after the create, so the attempt is in no cache.
 */
const CHALLENGE_FLOWS = [
  'create',
  'again',
  'lose',
  'win',
  'late',
  'expire',
  'void',
  'release',
  'lapse',
  'resolve',
] as const;

/**
 * The flows in a tournament round:
 * `enter`, `follow`, `score`, `withdraw`, `fade` and `tombstone` correspond to create, again, lose,
 * expire, lapse and resolve of a challenge. `follow` is an entry in a round that another player has
 * entered, which the service decides from cached facts.
 * `close` ends a round with two scored entries and one without, which settles and is paid; `cancel`
 * ends one with too few entrants, whose fees are refunded; `annul` is the operator's cancellation
 * of a round that has enough; `grant` releases a held purse.
 * `next` is the round that a tournament opens when it becomes active again (the worker opens it,
 * and the partner that "retries" lists tournaments meanwhile).
 */
const ROUND_FLOWS = [
  'enter',
  'follow',
  'score',
  'withdraw',
  'fade',
  'tombstone',
  'close',
  'cancel',
  'annul',
  'grant',
  'next',
] as const;

export type RoundFlow = (typeof ROUND_FLOWS)[number];
export type Flow = (typeof CHALLENGE_FLOWS)[number] | RoundFlow;

/** The services that the flows go through. */
const SERVICES = ['gateway', 'challenge', 'tournament', 'wallet'] as const;
type Service = (typeof SERVICES)[number];

/**
 * The flows that go through each failpoint of these services. A failpoint without a flow does not
 * compile.
 */
const FLOWS: Readonly<Record<FailpointName<Service>, readonly Flow[]>> = {
  'gateway.lock.before-commit': ['create', 'win'],
  'gateway.lock.after-commit': ['create', 'win'],
  'gateway.create.before-call': ['create', 'enter'],
  'gateway.create.after-call': ['create', 'enter'],
  'gateway.outcome.before-call': ['lose', 'win', 'score'],
  'gateway.outcome.after-call': ['lose', 'win', 'score'],
  // Only a push passes these; `integration-gateway.test.ts` plays them.
  'gateway.push.before-call': [],
  'gateway.push.after-call': [],
  // No flow of an attempt passes these; `challenge-life.test.ts` plays them.
  'gateway.seed.before-call': [],
  'gateway.seed.after-call': [],
  'challenge.calibrate.before-commit': [],
  'challenge.calibrate.after-commit': [],
  'challenge.seed.before-commit': [],
  'challenge.seed.after-commit': [],
  'challenge.status.before-commit': [],
  'challenge.status.after-commit': [],
  'gateway.complete.before-commit': ['create', 'win'],
  'gateway.complete.after-commit': ['create', 'win'],
  'gateway.reply.before-send': ['create', 'win'],
  'gateway.reply.after-send': ['create', 'win'],
  // No partner's flow passes these; `operator-api/actions.test.ts` plays them.
  'gateway.action.before-intent': [],
  'gateway.action.after-intent': [],
  'gateway.action.before-result': [],
  'gateway.action.after-result': [],
  // `operator-api/developers-of-programs.test.ts` plays these.
  'gateway.developer.after-commit': [],
  'gateway.developer.after-announcement': [],
  'challenge.create.before-commit': ['create', 'again'],
  'challenge.create.after-commit': ['create', 'again'],
  'challenge.create.before-charge': ['create'],
  'challenge.create.after-charge': ['create'],
  'challenge.open.before-commit': ['create'],
  'challenge.open.after-commit': ['create'],
  'challenge.outcome.before-commit': ['lose', 'win', 'late'],
  'challenge.outcome.after-commit': ['lose', 'win', 'late'],
  'challenge.monitor.before-commit': ['lose', 'win'],
  'challenge.monitor.after-commit': ['lose', 'win'],
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
  'challenge.outbox.before-publish': ['lose', 'win', 'expire', 'release'],
  'challenge.outbox.after-publish': ['lose', 'win', 'void'],
  'challenge.reply.before-send': ['create', 'win'],
  'tournament.create.before-commit': ['enter', 'follow'],
  'tournament.create.after-commit': ['enter', 'follow'],
  'tournament.create.before-charge': ['enter'],
  'tournament.create.after-charge': ['enter'],
  'tournament.open.before-commit': ['enter'],
  'tournament.open.after-commit': ['enter'],
  'tournament.outcome.before-commit': ['score'],
  'tournament.outcome.after-commit': ['score'],
  'tournament.award.before-pay': ['close'],
  'tournament.award.after-pay': ['close'],
  'tournament.award.before-commit': ['close'],
  'tournament.award.after-commit': ['close'],
  'tournament.expiry.before-commit': ['withdraw', 'fade'],
  'tournament.expiry.after-commit': ['withdraw', 'fade'],
  'tournament.refund.before-call': ['withdraw', 'cancel', 'annul'],
  'tournament.refund.after-call': ['close', 'cancel', 'annul'],
  'tournament.refund.before-commit': ['withdraw', 'cancel', 'annul'],
  'tournament.refund.after-commit': ['close', 'cancel', 'annul'],
  'tournament.outbox.before-publish': ['score', 'close', 'cancel', 'annul', 'grant'],
  'tournament.outbox.after-publish': ['score', 'withdraw', 'close'],
  'tournament.reply.before-send': ['enter', 'score'],
  'tournament.annul.before-commit': ['annul'],
  'tournament.annul.after-commit': ['annul'],
  'tournament.close.before-commit': ['close', 'cancel', 'annul'],
  'tournament.close.after-commit': ['close', 'cancel', 'annul'],
  'tournament.seal.before-commit': ['close'],
  'tournament.seal.after-commit': ['close'],
  'tournament.cancel.before-commit': ['cancel', 'annul'],
  'tournament.cancel.after-commit': ['cancel', 'annul'],
  'tournament.round.before-commit': ['next'],
  'tournament.round.after-commit': ['next'],
  'wallet.charge.before-commit': ['create', 'again', 'enter'],
  'wallet.charge.after-commit': ['create', 'again', 'enter'],
  'wallet.refund.before-commit': ['expire', 'lapse', 'cancel', 'annul'],
  'wallet.refund.after-commit': ['expire', 'lapse', 'cancel', 'annul'],
  'wallet.payout.before-commit': ['win', 'close'],
  'wallet.payout.after-commit': ['win', 'close'],
  'wallet.resolve.before-commit': ['resolve', 'tombstone'],
  'wallet.resolve.after-commit': ['resolve', 'tombstone'],
  'wallet.release.before-commit': ['release', 'grant'],
  'wallet.release.after-commit': ['release', 'grant'],
  'wallet.reply.before-send': ['create', 'win', 'expire', 'enter', 'close', 'cancel'],
};

const ACTIONS = ['kill', 'throw', 'delay:400', 'lose-reply'] as const satisfies readonly FailpointAction[];

/**
 * The action of the armed failpoint, and whether the partner repeats the request with the same key.
 */
export interface FaultCase {
  readonly failpoint: FailpointName<Service>;
  readonly action: FailpointAction;
  readonly flow: Flow;
  readonly retries: boolean;
}

/** The cases of one failpoint on one flow. */
export type FaultRow = readonly FaultCase[];

/** The failpoints of these services. */
const POINTS = SERVICES.flatMap((service) => FAILPOINTS[service]);

/**
 * The cases of a row in the order in which they are played. Other actions are between the kills, so
 * that a standby process is loaded before the next kill (StackOptions, `standby`).
 */
const ROW: readonly Pick<FaultCase, 'action' | 'retries'>[] = [
  ...ACTIONS.map((action) => ({ action, retries: true })),
  ...ACTIONS.toReversed().map((action) => ({ action, retries: false })),
];

/** The whole table: every failpoint on every flow that passes it, with every case of a row. */
const TABLE: readonly FaultCase[] = POINTS.flatMap((failpoint) =>
  FLOWS[failpoint].flatMap((flow) => ROW.map((played) => ({ failpoint, flow, ...played }))),
);

/**
 * The part of the table that is played by default: one case for every failpoint and flow. From row
 * to row the chosen case moves on by three, and so visits all eight. Thus each action meets each
 * service, with a retry and without. The gateway and the wallet do the same for rounds as for
 * challenges, so only the whole table has those rows.
 *
 * A service may or may not have a request's facts in its cache, so one commit has two paths. The
 * flows with these two paths (FROM_CACHE) are chosen separately: they get the hardest actions
 * around their commits, a death and a lost response. `LAUREL_FAULTS=all` (`npm run test:faults`)
 * plays the whole table.
 */
const FROM_CACHE: readonly Flow[] = ['again', 'late', 'follow'];
const SUBSET: readonly FaultCase[] = [
  ...TABLE.filter(
    ({ failpoint, flow }) => !FROM_CACHE.includes(flow) && (failpoint.startsWith('tournament.') || !isRoundFlow(flow)),
  ).filter((_, index) => {
    const row = Math.floor(index / ROW.length);
    return index % ROW.length === (row * 3) % ROW.length;
  }),
  ...TABLE.filter(({ flow }) => FROM_CACHE.includes(flow)).filter(({ failpoint, action, flow, retries }) => {
    const isCommitted = failpoint.endsWith('.after-commit');
    if (action === 'lose-reply') return retries && isCommitted;
    if (action !== 'kill') return false;
    // The repetition of an outcome that did not commit is an ordinary request, so it is not played.
    // A create that did commit is played without a retry, so that the sweeper resolves it.
    return flow === 'late' ? retries && isCommitted : retries !== isCommitted;
  }),
];

const PLAYED = process.env.LAUREL_FAULTS === 'all' ? TABLE : SUBSET;

/** Flows in which an attempt's time runs out: they need a stack with a short time. */
const BY_THE_CLOCK: readonly Flow[] = ['lapse', 'fade'];

/**
 * Whether only requests pass the failpoint, before their responses, and no worker that finishes
 * work of an earlier case. The gateway records a completion after its response.
 */
export function isPassedByRequestsOnly({ failpoint, flow }: FaultCase): boolean {
  if (/^gateway\./.test(failpoint)) return failpoint !== 'gateway.complete.after-commit';
  if (/^(challenge|tournament)\.expiry\./.test(failpoint)) return !BY_THE_CLOCK.includes(flow);
  if (failpoint === 'wallet.reply.before-send') return flow === 'create' || flow === 'enter';
  return /^(challenge|tournament)\.(create|outcome|annul|reply)\.|^wallet\.charge\./.test(failpoint);
}

/** The cases by row, each of which is played as a whole. */
export function rowsOf(cases: readonly FaultCase[]): readonly FaultRow[] {
  return [...Map.groupBy(cases, ({ failpoint, flow }) => `${failpoint} ${flow}`).values()];
}

export function isRoundFlow(flow: Flow): flow is RoundFlow {
  return (ROUND_FLOWS as readonly Flow[]).includes(flow);
}

/** Whether a failpoint is before or after its step. */
export type Side = 'before' | 'after';

/**
 * The cases of one service's failpoints in this run; those that wait for the clock run separately.
 * A service's table is two files, one for each side of its steps: one file would be the longest of
 * a run.
 */
export function faultCases(service: Service, side: Side): readonly FaultCase[] {
  return PLAYED.filter(
    ({ failpoint, flow }) =>
      failpoint.startsWith(`${service}.`) && failpoint.includes(`.${side}-`) && !BY_THE_CLOCK.includes(flow),
  );
}

/** The cases in which an attempt's time runs out. */
export function lapseCases(): readonly FaultCase[] {
  return PLAYED.filter(({ flow }) => BY_THE_CLOCK.includes(flow));
}

/**
 * One death at every failpoint that a flow passes, in a flow that does not wait for the clock.
 * Half of the cases have a retry, spread over the failpoints before a step and after it.
 */
export function oneDeathEach(): readonly FaultCase[] {
  return POINTS.flatMap((failpoint) => {
    const flow = FLOWS[failpoint].find((each) => !BY_THE_CLOCK.includes(each));
    return flow === undefined ? [] : [{ failpoint, flow }];
  }).map((played, index) => ({ ...played, action: 'kill', retries: (index + (index >> 1)) % 2 === 0 }));
}

/** The flows that begin with the death of a service. */
const KILLERS: Partial<Record<Flow, Service>> = { late: 'challenge', resolve: 'challenge', tombstone: 'tournament' };

/** Whether a service dies in this case, or in the scene that is set for it. */
export function isDeadly({ action, flow }: FaultCase): boolean {
  return action === 'kill' || KILLERS[flow] !== undefined;
}

/** The contest services that the flows of these cases go through. */
export function contestsOf(cases: readonly FaultCase[]): ReadonlySet<'challenge' | 'tournament'> {
  return new Set(cases.map(({ flow }) => (isRoundFlow(flow) ? 'tournament' : 'challenge')));
}

/** The services that die in these cases, or in the scenes that are set for them. */
export function killedServices(cases: readonly FaultCase[]): readonly Service[] {
  return SERVICES.filter((service) =>
    cases.some(
      ({ failpoint, action, flow }) =>
        (action === 'kill' && failpoint.startsWith(`${service}.`)) || KILLERS[flow] === service,
    ),
  );
}
