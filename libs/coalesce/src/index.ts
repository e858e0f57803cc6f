export {
  type Coalescer,
  type CoalescerOptions,
  createCoalescer,
  ItemDeadlineError,
  QueueFullError,
  type SubmitOptions,
} from './coalescer.ts';
