/**
 * The environment of a process that runs several services (apps/one-process). All services read a
 * variable, unless it has a service's name in front, such as CHALLENGE_NATS_URL: only that service
 * reads it.
 */
import type { ServiceName } from './index.ts';

type Environment = Readonly<Record<string, string>>;

/** What precedes the name of a variable that only this service reads. */
export function prefixOf(service: ServiceName): string {
  return `${service.toUpperCase()}_`;
}

/** Renames the variables so that only this service reads them. */
export function withServicePrefix(service: ServiceName, environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [prefixOf(service) + name, value]));
}

/**
 * Joins several environments to one. A variable that is the same for all services keeps its name.
 */
export function joinEnvironments(environments: ReadonlyMap<ServiceName, Environment>): Environment {
  const all = [...environments.values()];
  const common = Object.entries(all[0] ?? {}).filter(([name, value]) => all.every((each) => each[name] === value));
  const own = [...environments].map(([service, environment]) => withServicePrefix(service, environment));
  return Object.assign({}, ...own, Object.fromEntries(common));
}
