import { fileURLToPath } from 'node:url';
import { SERVICE_NAMES, type ServiceName } from '@laurel/topology';

/** The services of a stack, in the order in which they depend on each other. */
export const SERVICES = SERVICE_NAMES;
export type Service = ServiceName;

/** The folder of this checkout. Another one holds another release: its code and its installed packages. */
export const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

/** The pinned Node, which runs every process of a test. */
export const NODE = `${CHECKOUT}node_modules/.bin/node`;

/** A file of a service, in a checkout. */
export function fileOfService(service: Service, path: string, checkout = CHECKOUT): string {
  return `${checkout}services/${service}/${path}`;
}
