/**
 * `npm run test:compose`: brings up docker-compose.yml in a Docker engine and runs, against its containers, the demo, the black-box files
 * that join a stack, what an intruder in a container can do, and the faults of containers under load. Arguments are Vitest's.
 *
 * Where no engine can be had it says so and ends well, because nothing was tested; with LAUREL_COMPOSE=required that is a failure.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHECKOUT, DESCRIBED_STACK_VARIABLE } from '@laurel/testing';
import { startComposeStack } from './compose-stack.ts';
import { CONTAINERS_VARIABLE } from './containers.ts';
import { EngineUnavailable, obtainEngine } from './engine.ts';
import { obtainBaseImages } from './images.ts';

const begunAt = Date.now();
const print = (line: string) => process.stderr.write(`[${Math.round((Date.now() - begunAt) / 1000)} s] ${line}\n`);

/** Aborted by a signal: what is under way ends, and then the containers, the disks and the engine are taken down. */
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());

async function testContainers(): Promise<number> {
  const { signal } = interruption;
  await using engine = await obtainEngine(print);
  const images = await obtainBaseImages(engine, print);
  await using stack = await startComposeStack({ engine, images, print, signal });
  print('Testing ...');
  const vitest = join(CHECKOUT, 'node_modules/.bin/vitest');
  const projects = ['--project', 'compose', '--project', 'compose-faults'];
  const testing = spawn(vitest, ['run', ...projects, ...process.argv.slice(2)], {
    cwd: CHECKOUT,
    stdio: 'inherit',
    signal,
    env: {
      ...process.env,
      [DESCRIBED_STACK_VARIABLE]: stack.readyFile,
      [CONTAINERS_VARIABLE]: join(stack.folder, 'containers.json'),
    },
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    testing.once('error', reject);
    testing.once('exit', resolve);
  });
  print('Removing the stack ...');
  return code ?? 1;
}

try {
  process.exitCode = await testContainers();
} catch (error) {
  const isUnavailable = error instanceof EngineUnavailable;
  print(
    isUnavailable ? `docker-compose.yml was not tested: ${error.message}.` : errorsOf(error).map(String).join('\n'),
  );
  process.exitCode = isUnavailable && process.env.LAUREL_COMPOSE !== 'required' ? 0 : 1;
}

/** The error of the run, and those of the removal that followed it. */
function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof SuppressedError ? [...errorsOf(error.suppressed), ...errorsOf(error.error)] : [error];
}
