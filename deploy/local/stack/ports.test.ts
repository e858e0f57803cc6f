import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { INTERNAL_PORTS, isPortFree, keepPorts } from './ports.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-ports-'));
  file = join(directory, 'ports.json');
});

afterEach(() => rmSync(directory, { recursive: true }));

test('every part of a stack gets its own port below the range of outgoing connections', async () => {
  const ports = await keepPorts(file);
  expect(Object.keys(ports)).toEqual([...INTERNAL_PORTS]);
  expect(new Set(Object.values(ports)).size).toBe(INTERNAL_PORTS.length);
  expect(Object.values(ports).every((port) => port >= 20_000 && port < 32_768)).toBe(true);
});

test('later starts keep the ports of the first start', async () => {
  const first = await keepPorts(file);
  expect(await keepPorts(file)).toEqual(first);
});

test('only a recorded port that another process took is replaced', async () => {
  const first = await keepPorts(file);
  const second = await keepPorts(file, async (port) => port !== first.walletGrpc);
  expect(second.walletGrpc).not.toBe(first.walletGrpc);
  expect({ ...second, walletGrpc: 0 }).toEqual({ ...first, walletGrpc: 0 });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(second);
});

test('a damaged file of ports is replaced', async () => {
  writeFileSync(file, '{"postgres": 2');
  const ports = await keepPorts(file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ports);
});

test('a port on which a server listens is not free', async () => {
  const server = await listen();
  const port = portOf(server);
  expect(await isPortFree(port)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  expect(await isPortFree(port)).toBe(true);
});

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return address.port;
}
