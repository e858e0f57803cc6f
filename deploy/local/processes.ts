import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const HAS_PROC = existsSync('/proc/self/stat');

/**
 * The parent and the command line of a process, or null when it has exited (a zombie included). The command line of one
 * that is exiting is empty: the kernel releases its memory first, and its ports and files after that. `started` tells it
 * from a later process with the same id.
 */
export function inspectProcess(pid: number): InspectedProcess | null {
  try {
    return HAS_PROC ? inspectProc(pid) : inspectPs(pid);
  } catch {
    return null;
  }
}

interface InspectedProcess {
  readonly parent: number;
  readonly command: string;
  readonly started: string;
}

function inspectProc(pid: number): InspectedProcess | null {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name is in parentheses and may contain any character; state and parent follow the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  if (state === 'Z') return null;
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  // Field 22 of all, in ticks since the boot; another boot is another id.
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return { parent: Number(parent), command, started: `${boot} ${fields[19]}` };
}

function inspectPs(pid: number): InspectedProcess | null {
  const of = (format: string) => execFileSync('ps', ['-o', format, '-p', String(pid)], { encoding: 'utf8' }).trim();
  const found = /^(\d+)\s+(\S+)\s+(.*)$/.exec(of('ppid=,state=,command='));
  if (found === null || found[2]?.startsWith('Z')) return null;
  return { parent: Number(found[1]), command: found[3] ?? '', started: of('lstart=') };
}

/**
 * The processes between this one and the `npm` of the command line, nearest first. A user who kills `npm start` means the
 * stack; without npm (a service manager, a script) there is none between, and an orphan is meant to live.
 */
export function commandChain(): readonly number[] {
  if (process.env.npm_lifecycle_event === undefined) return [];
  const chain: number[] = [];
  let pid = process.ppid;
  for (let depth = 0; depth < 4 && pid > 1; depth += 1) {
    const found = inspectProcess(pid);
    if (found === null || !/bootstrap\.mjs|\bnpm\b/.test(found.command)) break;
    chain.push(pid);
    if (/^npm\b|npm-cli\.js/.test(found.command)) break;
    pid = found.parent;
  }
  return chain;
}

/** Resolves as soon as one process of the chain has exited. */
export function chainBroken(chain: readonly number[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (chain.length === 0) return;
    const timer = setInterval(() => {
      const isWhole = chain.every(
        (pid, index) => (index === 0 ? process.ppid : inspectProcess(chain[index - 1] as number)?.parent) === pid,
      );
      if (isWhole) return;
      clearInterval(timer);
      resolve();
    }, 1000);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  });
}
