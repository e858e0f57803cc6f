/** The processes of a stack that run several services each (apps/one-process). */
import { join } from 'node:path';
import { ONE_PROCESS_NODE_FLAGS } from '@laurel/service/node-flags';
import { SERVICES as SHAPES } from '@laurel/topology';
import { joinEnvironments } from '@laurel/topology/one-process';
import { ONE_PROCESS_FILES, ONE_PROCESS_MAIN, type Service } from './checkout.ts';
import { type ManagedProcess, manageProcess } from './managed-process.ts';

const MAX_LOG_LINES = 20_000;

/** The settings that the processes of a stack share. */
export interface ProcessesShape {
  readonly logs: ReadonlyMap<Service, string[]>;
  readonly ports: Readonly<Record<Service, readonly number[]>>;
  readonly adminPorts: Readonly<Record<Service, readonly number[]>>;
  readonly environmentOf: (service: Service) => Record<string, string>;
  readonly clockFileOf: (service: Service) => string | undefined;
}

/** The options of a stack that configure its processes. */
interface ProcessesOptions {
  readonly environment?: Partial<Record<Service, Readonly<Record<string, string>>>>;
  readonly restart?: boolean;
  readonly standby?: readonly Service[];
  readonly logDirectory?: string;
  readonly checkout?: string;
}

/**
 * Prepares the processes without starting them. Every process runs all of these services. Every
 * service also listens for gRPC, so that a test can call the service from outside.
 */
export function manageOneProcess(
  services: readonly Service[],
  options: ProcessesOptions,
  { logs, ports, adminPorts, environmentOf, clockFileOf }: ProcessesShape,
): ReadonlyMap<Service, readonly ManagedProcess[]> {
  if (services.length === 0) return new Map();
  if (options.checkout !== undefined) throw new Error('no other release has the shape of one process');
  if (services.some((service) => clockFileOf(service) !== undefined)) {
    throw new Error('the services of one process have one clock');
  }
  const [first = 'gateway'] = services;
  const processes = adminPorts[first].map((admin, index) => {
    const environments = services.map((service) => {
      const portVariable = SHAPES[service].serves === 'http' ? 'HTTP_PORT' : 'GRPC_PORT';
      const port = String(ports[service][index]);
      const environment = { ...environmentOf(service), [portVariable]: port, ...options.environment?.[service] };
      return [service, environment] as const;
    });
    return manageProcess({
      name: 'one-process',
      main: ONE_PROCESS_MAIN,
      nodeFlags: ONE_PROCESS_NODE_FLAGS,
      environment: {
        ...joinEnvironments(new Map(environments)),
        LAUREL_SERVICES: services.join(),
        ADMIN_PORT: String(admin),
      },
      standby: options.standby?.some((service) => services.includes(service)) ? ONE_PROCESS_FILES : undefined,
      readyUrl: `http://127.0.0.1:${admin}/readyz`,
      restart: options.restart ?? false,
      logFile: options.logDirectory === undefined ? undefined : join(options.logDirectory, `one-process-${index}.log`),
      onLine: (line) => {
        const named = services.find((service) => line.includes(`"service":"${service}"`));
        for (const service of named === undefined ? services : [named]) appendToLog(logs.get(service) ?? [], line);
      },
    });
  });
  return new Map(services.map((service) => [service, processes]));
}

/** Adds the line; keeps at least the newest MAX_LOG_LINES. */
export function appendToLog(log: string[], line: string): void {
  log.push(line);
  // Drops half of the lines at once, because each removal moves all lines that stay.
  if (log.length > 2 * MAX_LOG_LINES) log.splice(0, MAX_LOG_LINES);
}
