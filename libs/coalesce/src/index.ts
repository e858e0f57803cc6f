export { type Coalescer, type CoalescerOptions, createCoalescer, type SubmitOptions } from './coalescer.ts';
export { ItemDeadlineError, QueueFullError } from './errors.ts';
export { type CoalescerObserver, type ObservedItem, observeCoalescers } from './observer.ts';
export { type OptimisticBatch, runOptimisticBatch } from './optimistic-batch.ts';
export { createCoalescersByEnvironment, createSeparateCoalescers } from './separate.ts';
export { oldestWaits, registerQueue, type WaitingQueue } from './waiting-queues.ts';
