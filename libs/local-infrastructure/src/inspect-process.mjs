// Plain JavaScript without dependencies, because deploy/local/bootstrap.mjs reads it before
// anything is installed, on any Node (>= 20). Its types are in inspect-process.d.mts.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const HAS_PROC = existsSync('/proc/self/stat');

export function inspectProcess(pid) {
  try {
    return HAS_PROC ? inspectProc(pid) : inspectPs(pid);
  } catch {
    return null;
  }
}

export function identifyProcess(pid) {
  const started = inspectProcess(pid)?.started;
  return started === undefined ? `${pid}` : `${pid} ${started}`;
}

export function findIdentified(text) {
  const [, digits = '', started] = /^(\d{1,10})(?: (.+))?$/.exec(text.trim()) ?? [];
  const pid = Number(digits);
  const found = pid > 1 ? inspectProcess(pid) : null;
  return found !== null && (started === undefined || started === found.started) ? { pid, ...found } : null;
}

function inspectProc(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name is in parentheses and may contain any character; state and parent follow the last
  // parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  if (state === 'Z') return null;
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  // Field 22 is the start in ticks since the boot, so the boot's id belongs to it.
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return { parent: Number(parent), command, started: `${boot} ${fields[19]}` };
}

function inspectPs(pid) {
  const of = (format) => execFileSync('ps', ['-ww', '-o', format, '-p', String(pid)], { encoding: 'utf8' }).trim();
  const found = /^(\d+)\s+(\S+)\s+(.*)$/.exec(of('ppid=,state=,command='));
  if (found === null || found[2]?.startsWith('Z')) return null;
  return { parent: Number(found[1]), command: found[3] ?? '', started: of('lstart=') };
}
