import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ServiceLaunch } from './service-process.ts';
import { type OfferedService, offerServices, takeOver } from './takeover.ts';

let dataDir: string;
let events: string[];
let resumed: PromiseWithResolvers<void>;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'laurel-takeover-'));
  events = [];
  resumed = Promise.withResolvers();
});

afterEach(() => rmSync(dataDir, { recursive: true }));

test('only one command at a time can take over a service', async () => {
  await using _offer = await offerServices(dataDir, services(), () => undefined);
  const lease = await takeOver(dataDir, 'wallet');
  expect(lease.launch).toEqual(launchOf('wallet'));
  expect(events).toEqual(['pause']);
  await expect(takeOver(dataDir, 'wallet')).rejects.toThrow('Another "npm run dev -- wallet" runs this service');
  expect(events).toEqual(['pause']);

  lease[Symbol.dispose]();
  await resumed.promise;
  expect(events).toEqual(['pause', 'resume']);
  using again = await takeOver(dataDir, 'wallet');
  expect(again.launch.name).toBe('wallet');
});

test('the lease of a service ends when the launcher exits', async () => {
  const offer = await offerServices(dataDir, services(), () => undefined);
  using lease = await takeOver(dataDir, 'wallet');
  await offer[Symbol.asyncDispose]();
  await lease.ended;
  await expect(takeOver(dataDir, 'wallet')).rejects.toThrow(`No stack runs from ${dataDir}`);
});

test('a takeover of an unknown service is refused with the names of the known ones', async () => {
  await using _offer = await offerServices(dataDir, services(), () => undefined);
  await expect(takeOver(dataDir, 'walet')).rejects.toThrow('There is no service walet: wallet.');
});

test('a stack whose data directory has too long a path starts but cannot hand services over', async () => {
  const lines: string[] = [];
  const long = join(dataDir, 'x'.repeat(120));
  await using _offer = await offerServices(long, services(), (line) => lines.push(line));
  expect(lines).toEqual([expect.stringContaining('"npm run dev -- <service>" cannot take a service over')]);
});

function services(): ReadonlyMap<string, OfferedService> {
  const supervised = {
    pause: async () => void events.push('pause'),
    resume: () => {
      events.push('resume');
      resumed.resolve();
    },
  };
  return new Map([['wallet', { launch: launchOf('wallet'), supervised }]]);
}

function launchOf(name: string): ServiceLaunch {
  return {
    name,
    main: `services/${name}/src/main.ts`,
    dataDir,
    databaseVariable: 'WALLET_DATABASE_URL',
    environment: { GRPC_PORT: '1' },
    migrationEnvironment: {},
    readyUrl: 'http://127.0.0.1:2/',
  };
}
