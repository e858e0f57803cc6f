/**
 * `npm run dev`: the stack of `npm start`, which restarts a service when its sources change.
 * `npm run dev -- wallet`: runs one service from its sources, in place of the running stack's own
 * process. Its output appears here, and it restarts when its sources change. `--inspect` and
 * `--inspect-brk`, each with or without `=<port>`, open it to a debugger.
 * When this command ends, the stack starts its own process of the service again.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commandChain, untilChainBreaks } from '@laurel/local-infrastructure/command-chain';
import { ROOT, restartOnChange, serviceProcess } from './stack/service-process.ts';
import { StartFailure } from './stack/start-failure.ts';
import { supervise } from './stack/supervisor.ts';
import { takeOver } from './stack/takeover.ts';

const START = fileURLToPath(new URL('start.ts', import.meta.url));
const USAGE = 'npm run dev [-- <service> [--inspect[=<port>] | --inspect-brk[=<port>]]]';
/** A process that a debugger has paused is not ready while the pause lasts. */
const DEBUGGED_READY_LIMIT_MS = 24 * 60 * 60 * 1_000;

const print = (line: string) => void process.stderr.write(`${line}\n`);

async function runService(service: string, nodeArguments: readonly string[]): Promise<void> {
  const dataDir = resolve(process.env.INIT_CWD ?? ROOT, process.env.LAUREL_DATA_DIR || join(ROOT, '.laurel'));
  const stop = stopSignal();
  using lease = await takeOver(dataDir, service);
  const shape = serviceProcess(lease.launch, {
    nodeArguments,
    onPid: () => undefined,
    ...(nodeArguments.length > 0 && { readyLimitMs: DEBUGGED_READY_LIMIT_MS }),
  });
  const supervised = supervise(shape, print);
  try {
    using _watched = restartOnChange(lease.launch, supervised, print);
    const launcherGone = lease.ended.then(() => print('The stack has stopped.'));
    const isOver = await Promise.race([stop, launcherGone, supervised.firstReady.then(() => false)]);
    if (isOver === false) {
      print(`${service} runs from its sources; the rest of the stack calls it. Ctrl-C gives it back.`);
      await Promise.race([stop, launcherGone]);
    }
  } finally {
    await supervised.stop();
  }
}

/** Resolves at the first signal, or when the `npm` that started this process has exited. */
function stopSignal(): Promise<void> {
  const controller = new AbortController();
  void untilChainBreaks(commandChain(), controller.signal).then(() => controller.abort());
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => controller.abort());
  return new Promise((done) => controller.signal.addEventListener('abort', () => done(), { once: true }));
}

function parseCommand(): { service: string | undefined; nodeArguments: readonly string[] } {
  const { positionals, tokens } = parseArgs({ allowPositionals: true, strict: false, tokens: true });
  const options = tokens.filter((token) => token.kind === 'option');
  const nodeArguments = options.map(({ rawName, value }) => (value === undefined ? rawName : `${rawName}=${value}`));
  const areRight = nodeArguments.every((argument) => /^--inspect(?:-brk)?(?:=\d{1,5})?$/.test(argument));
  if (!areRight || positionals.length > 1 || (positionals.length === 0 && nodeArguments.length > 0)) {
    throw new StartFailure(`Usage: ${USAGE}`);
  }
  return { service: positionals[0], nodeArguments };
}

try {
  const { service, nodeArguments } = parseCommand();
  if (service !== undefined) await runService(service, nodeArguments);
  else process.execve?.(process.execPath, [process.execPath, START, '--watch'], process.env);
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  print(`\n${error.message}`);
  process.exitCode = 1;
}
process.exit();
