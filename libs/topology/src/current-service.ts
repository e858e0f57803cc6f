/**
 * Which service the running code belongs to, where several share a process. What a service begins,
 * its timers, connections and calls, belongs to it too. Metrics and traces name the service by it;
 * no rule about callers may depend on it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServiceName } from './index.ts';

const current = new AsyncLocalStorage<ServiceName>();

/** Undefined in a process of one service, and in code that no service has begun. */
export function currentService(): ServiceName | undefined {
  return current.getStore();
}

/** Runs the work, and all that it begins, as this service's. */
export function asService<Result>(service: ServiceName, work: () => Result): Result {
  return current.run(service, work);
}
