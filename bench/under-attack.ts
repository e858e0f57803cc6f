import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Stack } from '@laurel/testing';
import type { AttackKind, AttackRequest } from './attack.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { percentiles } from './statistics.ts';
import { countOf, latenciesOf } from './winning-flows.ts';

/**
 * A partner far below the system's capacity: the latency that it sees comes from the attack, not
 * from its own load.
 */
const FLOWS_PER_SECOND = 50;
const CLIENTS = 16;
const SAMPLE_MS = 100;
/** The attack reaches its full strength before the measurement starts. */
const RISE_MS = 6_000;

const ATTACKS: readonly {
  readonly name: string;
  readonly kind: AttackKind;
  readonly connections: number;
  readonly addresses: number;
}[] = [
  { name: '2,500 unending bodies, one address', kind: 'bodies', connections: 2_500, addresses: 1 },
  { name: '2,500 unending bodies, 100 addresses', kind: 'bodies', connections: 2_500, addresses: 100 },
  { name: '4,000 slow headers, one address', kind: 'headers', connections: 4_000, addresses: 1 },
  { name: '4,000 slow headers, 100 addresses', kind: 'headers', connections: 4_000, addresses: 100 },
  { name: '/metrics on the public port, 16 clients', kind: 'metrics', connections: 16, addresses: 1 },
];

/**
 * The latency of a well-behaved partner, and the gateway's memory, under attack. Only over
 * loopback, and for a bounded time.
 */
export async function measureUnderAttack(
  stack: Stack,
  runLoad: (request: LoadRequest) => Promise<LoadResult>,
  durationMs: number,
): Promise<(string | number)[][]> {
  const { hostname: host, port } = new URL(stack.baseUrl);
  const measure = async (name: string) => {
    const samples = [gatewayMiB(stack)];
    const sampling = setInterval(() => samples.push(gatewayMiB(stack)), SAMPLE_MS);
    const result = await runLoad({
      kind: 'flows',
      gateways: [{ host, port: Number(port) }],
      programs: undefined,
      clients: CLIENTS,
      durationMs,
      ratePerSecond: FLOWS_PER_SECOND,
      flow: 'challenge',
    });
    clearInterval(sampling);
    const { p50Ms, p99Ms } = percentiles(latenciesOf(result, 'won', 'lost'));
    return { row: [name, p50Ms, p99Ms, Math.round(Math.max(...samples)), countOf(result, 'failed')], p99Ms };
  };

  const rows: (string | number)[][] = [
    [`a partner at ${FLOWS_PER_SECOND} flows/s`, 'p50 ms', 'p99 ms', 'gateway MiB at most', 'failures', 'p99 x'],
  ];
  const baseline = await measure('alone');
  rows.push([...baseline.row, 1]);
  for (const { name, ...attack } of ATTACKS) {
    const attacker = startAttack({ ...attack, port: Number(port) });
    await new Promise((resolve) => setTimeout(resolve, RISE_MS));
    const { row, p99Ms } = await measure(name);
    rows.push([...row, p99Ms / baseline.p99Ms]);
    const ended = once(attacker, 'exit');
    attacker.kill();
    await ended;
  }
  return rows;
}

function startAttack(request: AttackRequest): ChildProcess {
  const child = fork(new URL('attack.ts', import.meta.url));
  child.send(request);
  return child;
}

/** All memory of the gateway, including shared pages, as a limit of the system counts it. */
function gatewayMiB(stack: Stack): number {
  const [pid] = stack.pids('gateway');
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
