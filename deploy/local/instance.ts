import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspectProcess } from './processes.ts';
import { StartFailure } from './start-failure.ts';

/** The running launcher's record, by which the next one knows whether it may start and which processes it must end. */
interface Note {
  readonly launcher: number;
  readonly httpPort: number;
  readonly children: Readonly<Record<string, number>>;
}

/** The right to run from one data directory; disposing releases it. */
export interface Instance extends Disposable {
  noteChild(name: string, pid: number | undefined): void;
}

const CLEARING_LIMIT_MS = 15_000;

/**
 * Locks the data directory for this process. A launcher that still runs keeps it; processes that a killed one left behind
 * are ended first: its services exit on their own, and every other process with the data directory on its command
 * line gets a signal.
 */
export async function takeDataDirectory(
  dataDir: string,
  httpPort: number,
  print: (line: string) => void,
): Promise<Instance> {
  const file = join(dataDir, 'launcher.json');
  const left = readNote(file);
  if (left !== null) {
    const holder = left.launcher === process.pid ? null : inspectProcess(left.launcher);
    if (holder?.command.includes('deploy/local/start.ts')) {
      throw new StartFailure(
        `Laurel already runs from ${dataDir} (pid ${left.launcher}, http://127.0.0.1:${left.httpPort}): stop it first, or start a second one with another LAUREL_DATA_DIR and LAUREL_HTTP_PORT.`,
      );
    }
    await clearChildren(left.children, dataDir, print);
    rmSync(file, { force: true });
  }

  const children: Record<string, number> = {};
  const write = (flag: 'w' | 'wx') => {
    const note: Note = { launcher: process.pid, httpPort, children };
    writeFileSync(file, `${JSON.stringify(note)}\n`, { flag });
  };
  try {
    write('wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new StartFailure(
      `Another start from ${dataDir} was a moment faster: use that one, or another LAUREL_DATA_DIR and LAUREL_HTTP_PORT.`,
    );
  }
  return {
    noteChild(name, pid) {
      if (pid === undefined) delete children[name];
      else children[name] = pid;
      write('w');
    },
    [Symbol.dispose]: () => rmSync(file, { force: true }),
  };
}

async function clearChildren(
  children: Note['children'],
  dataDir: string,
  print: (line: string) => void,
): Promise<void> {
  const commandOf = (pid: number) => inspectProcess(pid)?.command;
  const left = Object.entries(children).filter(([, pid]) => commandOf(pid)?.includes(dataDir));
  if (left.length === 0) return;
  print(`Ending what the last start left behind: ${left.map(([name]) => name).join(', ')} ...`);

  // An exiting process has no command line any more and still holds its port; another command line is another process.
  const isRunning = ([, pid]: readonly [string, number]) => {
    const command = commandOf(pid);
    return command === '' || command?.includes(dataDir);
  };
  for (const [, pid] of left) signal(pid, 'SIGTERM');
  const deadline = Date.now() + CLEARING_LIMIT_MS;
  while (left.some(isRunning) && Date.now() < deadline) await delay(50);
  for (const [, pid] of left.filter(isRunning)) signal(pid, 'SIGKILL');
  while (left.some(isRunning)) await delay(50);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited in the meantime.
  }
}

function readNote(file: string): Note | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
