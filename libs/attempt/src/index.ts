/** The life of one paid attempt, alike for challenges and rounds. */
export {
  type AttemptStatus,
  afterRefund,
  CAP_COUNTED,
  canMove,
  canSettle,
  deadlineOf,
  isDue,
  isVisible,
  type ShownStatus,
  shownStatus,
} from './attempt.ts';
