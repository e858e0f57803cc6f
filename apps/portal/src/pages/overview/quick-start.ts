/** Which steps of the quick start the traffic of a program has done. */
import type { OverviewFirstSteps } from '../../api/api-types.ts';

export const STEP_NAMES = ['key', 'player', 'attempt', 'outcome', 'endpoint', 'webhook'] as const;

export type StepName = (typeof STEP_NAMES)[number];

export interface Step {
  readonly name: StepName;
  readonly isDone: boolean;
  /** The time when it was first done; null if that is not known. */
  readonly at: string | null;
}

export interface SeenAttempts {
  readonly hasAttempt: boolean;
  readonly hasSettled: boolean;
}

/**
 * The overview counts only calls with an API key, and the sandbox console makes none. So an
 * existing attempt counts as well, also for the linked player without whom it could not exist.
 */
export function stepsOf(first: OverviewFirstSteps, { hasAttempt, hasSettled }: SeenAttempts): readonly Step[] {
  const step = (name: StepName, at: string | null, isImplied = false): Step => ({
    name,
    at,
    isDone: at !== null || isImplied,
  });
  const reported = hasSettled || first.outcome_reported_at !== null;
  const created = reported || hasAttempt || first.attempt_created_at !== null;
  return [
    step('key', first.key_used_at),
    step('player', first.player_linked_at, created),
    step('attempt', first.attempt_created_at, created),
    step('outcome', first.outcome_reported_at, reported),
    step('endpoint', first.endpoint_created_at),
    step('webhook', first.webhook_delivered_at),
  ];
}

/** Whether the overview has a time for every step. */
export function isComplete(first: OverviewFirstSteps): boolean {
  return Object.values(first).every((at) => at !== null);
}

/**
 * The player that a logged response of `POST /v1/players` names. A name with an e-mail in it is
 * redacted.
 */
export function playerRefOf(body: string | null): string | undefined {
  const [, text] = /"player_ref":("(?:[^"\\]|\\.)*")/.exec(body ?? '') ?? [];
  const playerRef = text === undefined ? undefined : String(JSON.parse(text));
  return playerRef === '[redacted]' ? undefined : playerRef;
}
