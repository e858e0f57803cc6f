/**
 * `npm run test:prepare`: prepares what the tests of clients and containers fetch and build, for
 * example beside other tests: the engine and images, the browser, the runtimes, the generators of
 * clients, the languages of the samples. Each is kept in node_modules/.cache/laurel, or installed,
 * by the code of the test run that needs it, under a lock: a test that comes meanwhile waits only
 * for its own part. If a part fails here, the test tries it again and reports the failure, so this
 * command always exits with 0. It prints how long each part took.
 */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { CHECKOUT, NODE } from '@laurel/testing';
import { hasChromium } from './clients/chromium.ts';
import { fetchGenerators } from './clients/generators.ts';
import { findMissingLanguages } from './clients/languages.ts';
import { fetchRuntimes } from './clients/runtimes.ts';
import { exitOf } from './compose/child.ts';

// Lowers the priority of this process and its children, so that tests run first.
setPriority(constants.priority.PRIORITY_LOW);

const begunAt = Date.now();
const print = (line: string) => process.stderr.write(`[prepare, ${seconds(begunAt)} s] ${line}\n`);

function seconds(since: number): number {
  return Math.round((Date.now() - since) / 1000);
}

/** A separate process, which removes what it has started when a signal ends it. */
async function prepareContainers(): Promise<void> {
  const main = `${CHECKOUT}tests/compose/main.ts`;
  const preparing = spawn(NODE, ['--disable-warning=ExperimentalWarning', main, '--prepare'], {
    cwd: CHECKOUT,
    stdio: 'inherit',
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => preparing.kill(name));
  const code = await exitOf(preparing);
  if (code !== 0) throw new Error(`its process ended with ${code}`);
}

async function part(name: string, prepare: () => Promise<unknown>): Promise<void> {
  const startedAt = Date.now();
  const failure = await prepare().then(
    () => undefined,
    (error: unknown) => String(error),
  );
  const result = failure === undefined ? 'ended' : `failed, and is left to the tests that need it (${failure})`;
  print(`${name} ${result} after ${seconds(startedAt)} s`);
}

async function prepareClients(): Promise<void> {
  await part('The runtimes', fetchRuntimes);
  await part('The generators of clients', fetchGenerators);
  await part('Chromium', hasChromium);
  await part('The languages of the samples', findMissingLanguages);
}

await Promise.all([part('The containers', prepareContainers), prepareClients()]);
print('Done.');
