/**
 * `npm run test:compose`: brings up docker-compose.yml in a Docker engine and runs, against its
 * containers, the demo, the black-box files of `JOINING_IN_CONTAINERS` (with `--all`, every one
 * that joins a stack), an intruder in a container, and faults of containers under load. Further
 * arguments are Vitest's. With `--prepare` it prepares engine and images, and leaves nothing
 * running.
 *
 * If this machine cannot have an engine, the last line is `NOT TESTED: test:compose: <reason>`, for
 * the caller, and the exit code is 0, because nothing failed. With LAUREL_COMPOSE=required that is
 * a failure.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHECKOUT, DESCRIBED_STACK_VARIABLE } from '@laurel/testing';
import { takeFileLock } from '../file-lock.ts';
import { exitOf } from './child.ts';
import { buildServices, startComposeStack } from './compose-stack.ts';
import { CONTAINERS_VARIABLE } from './containers.ts';
import { EngineUnavailable, KEPT_FOLDER, obtainEngine } from './engine.ts';
import { obtainBaseImages } from './images.ts';
import { ALL_VARIABLE } from './joining-files.ts';

const begunAt = Date.now();
const print = (line: string) => process.stderr.write(`[${Math.round((Date.now() - begunAt) / 1000)} s] ${line}\n`);

/** Aborted by a signal: running work ends, then the containers, disks and engine are taken down. */
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    if (!interruption.signal.aborted) print(`${name}: removing what was started ...`);
    interruption.abort();
  });
// A closed terminal takes no more lines; the removal continues without them.
process.stderr.on('error', () => {});

const [isAll, isPreparation] = ['--all', '--prepare'].map((option) => process.argv.includes(option));
const ofVitest = process.argv.slice(2).filter((argument) => !['--all', '--prepare'].includes(argument));

async function testContainers(): Promise<number> {
  const { signal } = interruption;
  const context = { print, signal };
  // One run at a time uses the kept files, above all the engine's folder.
  const onWait = () => print('Another run prepares or tests the containers; waiting for it ...');
  await using _lock = await takeFileLock(join(KEPT_FOLDER, 'lock'), { onWait, signal });
  await using engine = await obtainEngine(context);
  const images = await obtainBaseImages(engine, context);
  await buildServices(engine, images, context);
  print('The images are ready.');
  if (isPreparation) return 0;
  await using stack = await startComposeStack(engine, images, context);
  print('Testing ...');
  const vitest = join(CHECKOUT, 'node_modules/.bin/vitest');
  const projects = ['--project', 'compose', '--project', 'compose-faults'];
  const testing = spawn(vitest, ['run', ...projects, ...ofVitest], {
    cwd: CHECKOUT,
    stdio: 'inherit',
    signal,
    env: {
      ...process.env,
      [DESCRIBED_STACK_VARIABLE]: stack.readyFile,
      [CONTAINERS_VARIABLE]: join(stack.folder, 'containers.json'),
      ...(isAll && { [ALL_VARIABLE]: '1' }),
    },
  });
  const code = await exitOf(testing);
  print('Removing the stack ...');
  return code ?? 1;
}

try {
  process.exitCode = await testContainers();
} catch (error) {
  if (error instanceof EngineUnavailable) {
    process.stdout.write(`NOT TESTED: test:compose: ${error.message}\n`);
    process.exitCode = process.env.LAUREL_COMPOSE === 'required' ? 1 : 0;
  } else {
    print(errorsOf(error).map(String).join('\n'));
    process.exitCode = 1;
  }
}

/** The run's error, and the errors of the removal that followed. */
function errorsOf(error: unknown): readonly unknown[] {
  return error instanceof SuppressedError ? [...errorsOf(error.suppressed), ...errorsOf(error.error)] : [error];
}
