export {
  type Coalescer,
  type CoalescerObserver,
  type CoalescerOptions,
  createCoalescer,
  ItemDeadlineError,
  type ObservedItem,
  observeCoalescers,
  QueueFullError,
  type SubmitOptions,
} from './coalescer.ts';
