import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { type CalledService, isCalled, SERVICE_NAMES, type ServiceName } from '@laurel/topology';
import { writePrivate } from './secrets.ts';

/**
 * The ports inside one stack. Each is chosen once and kept, so that URLs stay valid after a
 * restart.
 */
export const INTERNAL_PORTS: readonly InternalPort[] = [
  'postgres',
  'nats',
  ...SERVICE_NAMES.flatMap((name) => [...(isCalled(name) ? [`${name}Grpc` as const] : []), `${name}Admin` as const]),
];
export type InternalPort = 'postgres' | 'nats' | `${CalledService}Grpc` | `${ServiceName}Admin`;
export type Ports = Readonly<Record<InternalPort, number>>;

/**
 * These ports are below the range for outgoing connections (32768 and up on Linux), so no client's
 * connection can take the port of a service while the service restarts.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;
const MAX_TRIES = 500;

/**
 * Reads the kept ports, chooses a new one for each that is missing or in use by another process,
 * and writes the result.
 */
export async function keepPorts(file: string, isFree: (port: number) => Promise<boolean> = isPortFree): Promise<Ports> {
  const kept = readKept(file);
  const chosen: Partial<Record<InternalPort, number>> = {};
  const used = new Set<number>();
  for (const name of INTERNAL_PORTS) {
    const before = kept[name];
    const port =
      before !== undefined && !used.has(before) && (await isFree(before)) ? before : await choosePort(used, isFree);
    used.add(port);
    chosen[name] = port;
  }
  writePrivate(file, `${JSON.stringify(chosen, null, 2)}\n`);
  return chosen as Ports;
}

/**
 * Chooses a random port: two stacks that start at the same moment would both find the lowest port
 * free.
 */
async function choosePort(used: ReadonlySet<number>, isFree: (port: number) => Promise<boolean>): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (!used.has(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT} in ${MAX_TRIES} tries`);
}

function readKept(file: string): Partial<Record<InternalPort, number>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

/** Whether a server could listen on this port of 127.0.0.1 now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
