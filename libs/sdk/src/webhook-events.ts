import type {
  AttemptRefunded,
  AttemptSettled,
  AwardReleased,
  ChallengeSuspended,
  RoundCancelled,
  RoundSettled,
  WebhookTest,
} from './api-types.ts';

/** Told apart by `event`. Types of events may be added: let a `switch` over it have a `default` that accepts what it does not know. */
export type WebhookEvent =
  | WebhookTest
  | AttemptSettled
  | AttemptRefunded
  | ChallengeSuspended
  | RoundSettled
  | RoundCancelled
  | AwardReleased;
