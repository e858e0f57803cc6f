import { fileURLToPath } from 'node:url';
import { SERVICE_NAMES, type ServiceName } from '@laurel/topology';

/** The services of a stack. Each service comes after the services that it calls. */
export const SERVICES = SERVICE_NAMES;
export type Service = ServiceName;

/**
 * The folder of this checkout. A checkout of another release contains that release's code and
 * packages.
 */
export const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

/** The pinned Node, with which tests run every process. */
export const NODE = `${CHECKOUT}node_modules/.bin/node`;

/** The program of a process that runs all services. */
export const ONE_PROCESS_MAIN = `${CHECKOUT}apps/one-process/src/main.ts`;

/** The files that this program imports. */
export const ONE_PROCESS_FILES = ['config.ts', 'start-services.ts'].map(
  (file) => `${CHECKOUT}apps/one-process/src/${file}`,
);

/** A file of a service, in a checkout. */
export function fileOfService(service: Service, path: string, checkout = CHECKOUT): string {
  return `${checkout}services/${service}/${path}`;
}
