/**
 * The configuration of a process of several services. Each service reads the same variables as in a
 * process of its own. A variable with a service's name in front applies to that service alone.
 */
import { IN_PROCESS } from '@laurel/grpc';
import { ConfigError, exitIfInvalid, parseConfig, processSettings } from '@laurel/service';
import { addressesFor, isCalled, SERVICE_NAMES, type ServiceName } from '@laurel/topology';
import { prefixOf } from '@laurel/topology/one-process';
import { z } from 'zod';
import { type ConfiguredService, PROGRAMS } from './programs.ts';

const services = z.string().transform((text, context): readonly ServiceName[] => {
  if (text.trim() === 'all') return SERVICE_NAMES;
  const names = new Set(text.split(',').map((name) => name.trim()));
  const found = SERVICE_NAMES.filter((name) => names.has(name));
  if (found.length === names.size) return found;
  context.addIssue(`must be all, or some of ${SERVICE_NAMES.join(', ')}`);
  return z.NEVER;
});

const processSchema = z.object({
  ...processSettings,
  /** The services of this process: `all`, or names separated by commas. */
  LAUREL_SERVICES: services.prefault('all'),
});

export type ProcessConfig = z.output<typeof processSchema> & {
  /** The services to start; one comes after those that it calls. */
  readonly services: ReadonlyMap<ServiceName, ConfiguredService>;
};

/** The configuration of this process. If it is invalid, prints all issues and exits 1. */
export function loadProcessConfig(environment: NodeJS.ProcessEnv): ProcessConfig {
  return exitIfInvalid(() => parseProcessConfig(environment));
}

/** Throws ConfigError with the issues of all services. */
export function parseProcessConfig(environment: NodeJS.ProcessEnv): ProcessConfig {
  const config = parseConfig(processSchema, environment);
  const names = config.LAUREL_SERVICES;
  const issues: string[] = [];
  const configured = new Map<ServiceName, ConfiguredService>();
  for (const name of names) {
    try {
      configured.set(name, PROGRAMS[name].read(serviceEnvironment(name, names, environment)));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      issues.push(...error.issues.map((issue) => `${name}: ${issue}`));
    }
  }
  if (issues.length > 0) throw new ConfigError(issues);
  return { ...config, services: configured };
}

/** Returns the environment that one service reads beside the other services of this process. */
export function serviceEnvironment(
  name: ServiceName,
  others: readonly ServiceName[],
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const prefix = prefixOf(name);
  const own = Object.entries(environment).flatMap(([variable, value]) =>
    variable.startsWith(prefix) && value !== '' ? [[variable.slice(prefix.length), value] as const] : [],
  );
  const neighbours = Object.entries(addressesFor(name, (called) => (others.includes(called) ? IN_PROCESS : '')));
  return {
    ...environment,
    // A service whose callers are all in this process needs no gRPC port.
    ...(isCalled(name) && { GRPC_PORT: IN_PROCESS }),
    ...Object.fromEntries(own),
    ...Object.fromEntries(neighbours.filter(([, address]) => address !== '')),
  };
}
