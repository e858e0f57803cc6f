import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspectProcess } from '@laurel/local-infrastructure/inspect-process';
import { writePrivate } from './secrets.ts';
import { StartFailure } from './start-failure.ts';

/**
 * The record of a running launcher. The next launcher reads whether it may start, and which
 * processes it must end.
 */
interface Note {
  readonly launcher: number;
  /**
   * When the launcher's process started, as inspectProcess returns it. Launchers of the previous
   * release did not write it.
   */
  readonly started?: string;
  readonly httpPort: number;
  readonly children: Readonly<Record<string, number>>;
}

/** The right to run from one data directory. Disposing releases it. */
export interface Instance extends Disposable {
  noteChild(name: string, pid: number | undefined): void;
}

const CLEARING_LIMIT_MS = 15_000;

/**
 * Locks the data directory for this process. A launcher that still runs keeps it.
 * Processes that a killed launcher left behind are ended first. Its services exit on their own;
 * every other process with the data directory on its command line gets a signal.
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
    const isSame = left.started === undefined || left.started === holder?.started;
    if (isSame && holder?.command.includes('deploy/local/start.ts')) {
      throw new StartFailure(
        `Laurel already runs from ${dataDir} (pid ${left.launcher}, http://127.0.0.1:${left.httpPort}): stop it first, or start a second one with another LAUREL_DATA_DIR and LAUREL_HTTP_PORT.`,
      );
    }
    await clearChildren(left.children, dataDir, print);
    rmSync(file, { force: true });
  } else if (existsSync(file)) {
    print(`${file} could not be read, perhaps after a full disk or a crash: it is written again.`);
    rmSync(file, { force: true });
  }

  const children: Record<string, number> = {};
  const started = inspectProcess(process.pid)?.started;
  const textOfNote = () => {
    const note: Note = { launcher: process.pid, ...(started !== undefined && { started }), httpPort, children };
    return `${JSON.stringify(note)}\n`;
  };
  try {
    createWhole(file, textOfNote());
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
      writePrivate(file, textOfNote());
    },
    [Symbol.dispose]: () => rmSync(file, { force: true }),
  };
}

/**
 * Creates the file with its whole content, so that nobody reads a part. Throws EEXIST if it exists.
 */
function createWhole(file: string, content: string): void {
  const draft = `${file}.${process.pid}.first`;
  writeFileSync(draft, content, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Whether a command line names the data directory or a file in it. A directory whose name only
 * begins with the same characters belongs to another stack.
 */
function namesDirectory(command: string | undefined, dataDir: string): boolean {
  for (let at = command?.indexOf(dataDir) ?? -1; at >= 0; at = command?.indexOf(dataDir, at + 1) ?? -1) {
    const [before, after] = [command?.[at - 1] ?? ' ', command?.[at + dataDir.length] ?? ' '];
    if (' ='.includes(before) && ' /'.includes(after)) return true;
  }
  return false;
}

async function clearChildren(
  children: Note['children'],
  dataDir: string,
  print: (line: string) => void,
): Promise<void> {
  const commandOf = (pid: number) => inspectProcess(pid)?.command;
  const left = Object.entries(children).filter(([, pid]) => namesDirectory(commandOf(pid), dataDir));
  if (left.length === 0) return;
  print(`Ending what the last start left behind: ${left.map(([name]) => name).join(', ')} ...`);

  // An exiting process still holds its port but has no command line any more. A process with
  // another command line has only taken over the process id.
  const isRunning = ([, pid]: readonly [string, number]) => {
    const command = commandOf(pid);
    return command === '' || namesDirectory(command, dataDir);
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
    // The process has exited in the meantime.
  }
}

function readNote(file: string): Note | null {
  try {
    const note: Partial<Note> | null = JSON.parse(readFileSync(file, 'utf8'));
    const isWhole = typeof note?.launcher === 'number' && typeof note.children === 'object' && note.children !== null;
    return isWhole ? (note as Note) : null;
  } catch {
    return null;
  }
}
