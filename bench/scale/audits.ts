/** Measures the time and memory of each service's own audit, and of the operator's audit. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '@laurel/testing';
import type { Figure } from './figures.ts';

const SERVICES = ['wallet', 'challenge', 'tournament', 'gateway'] as const;
const POLL_MS = 200;
/** A service polls for a due audit every 30 s. One of ten million attempts takes minutes. */
const LIMIT_MS = 1_800_000;

const DUE = `
  insert into audit_runs (id, next_run_at) values (1, now())
  on conflict (id) do update set finished_at = null, duration_ms = null, violations = null, next_run_at = now()`;
const FINISHED = 'select duration_ms::float8 as ms, violations from audit_runs where finished_at is not null';

/** Audits all services at the same time. Throws if an invariant does not hold. */
export async function auditEach(stack: Stack): Promise<readonly Figure[]> {
  const violated: string[] = [];
  const figures = await Promise.all(
    SERVICES.map(async (service): Promise<Figure> => {
      const [pid = 0] = stack.pids(service);
      forgetPeak(pid);
      const { ms, violations } = await runAudit(stack, service);
      const counts = Object.entries(violations);
      for (const [check, count] of counts) if (count > 0) violated.push(`${service}: ${check}: ${count}`);
      return {
        name: `audit of the ${service} service`,
        seconds: ms / 1000,
        mib: peakMiB(pid),
        note: `${counts.length / 2} checks; MiB: its process at most`,
      };
    }),
  );
  if (violated.length > 0) throw new Error(`violated: ${violated.join('; ')}`);
  return figures;
}

/** Measures an audit of all services at once, as an operator requests it. */
export async function auditForOperator({ baseUrl, operatorToken }: Stack): Promise<Figure> {
  const sentAt = performance.now();
  const answer = await fetch(`${baseUrl}/api/operator/audit`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  const { ok } = (await answer.json()) as { ok?: boolean };
  const seconds = (performance.now() - sentAt) / 1000;
  if (answer.status === 200 && ok !== true) throw new Error('the audit after the flows found violations');
  return { name: 'operator: audit of all at once, after the flows', seconds, note: `status ${answer.status}` };
}

async function runAudit(
  stack: Stack,
  service: (typeof SERVICES)[number],
): Promise<{ ms: number; violations: Record<string, number> }> {
  const database = stack.database(service);
  const until = Date.now() + LIMIT_MS;
  await database.query(DUE);
  while (Date.now() < until) {
    const [run] = await database.query<{ ms: number; violations: Record<string, number> }>(FINISHED);
    if (run !== undefined) return run;
    await sleep(POLL_MS);
  }
  throw new Error(`the audit of ${service} did not finish in time: its log says why`);
}

/** Resets the peak that the kernel keeps of a process's memory. */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function peakMiB(pid: number): number {
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
}
