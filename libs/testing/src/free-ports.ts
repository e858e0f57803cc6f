import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The ports are below the kernel's range for outgoing connections. So a killed service finds its
 * port free again, and no client that reconnects gets this port as its own.
 */
const PORTS_PER_WORKER = 2_000;
/**
 * Test files run side by side in workers. Each worker has its own range of ports, because two
 * workers could find the same port free and both use it.
 */
const FIRST_PORT = 12_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 10) * PORTS_PER_WORKER;

/** A port that was handed out stays reserved, even before a process listens on it. */
const givenAway = new Set<number>();

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(FIRST_PORT, FIRST_PORT + PORTS_PER_WORKER);
    if (givenAway.has(port)) continue;
    givenAway.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
