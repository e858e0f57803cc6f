// Measures outcomes alone: attempts are created first, without measurement, and then settled by
// `/v1` or by signed pushes. The load process does both.
import { HttpConnection } from './http-connection.ts';
import { createAttempt, type Player, report, reportUnexpected, THRESHOLD } from './paid-flow.ts';
import type { PlayerPool } from './player-pool.ts';
import { type PushTarget, push } from './push.ts';
import type { FlowResult, Flows } from './winning-flows.ts';

/**
 * The parent's order to create this many attempts. As many of them will win, in proportion, as
 * flows do.
 */
export interface AttemptsRequest {
  readonly kind: 'attempts';
  readonly host: string;
  readonly port: number;
  readonly clients: number;
  readonly count: number;
}

/** The parent's order to settle this many of the created attempts, the oldest first. */
export interface OutcomesRequest {
  readonly kind: 'outcomes';
  readonly host: string;
  readonly port: number;
  readonly clients: number;
  readonly count: number;
  /** Where to push outcomes: an integration by program id. Undefined for outcomes by `/v1`. */
  readonly targets: ReadonlyMap<string, PushTarget> | undefined;
}

/** An attempt whose outcome is not reported yet. */
interface OpenAttempt {
  readonly id: string;
  readonly player: Player;
  readonly wins: boolean;
}

/** The attempts that one load process has created and not settled, in the order of creation. */
export interface Outcomes {
  /**
   * Throws if an attempt was not created: otherwise `/v1` and pushes would settle different
   * attempts.
   */
  create(request: AttemptsRequest, players: PlayerPool, isNextWin: () => boolean): Promise<void>;
  /**
   * Returns outcomes in the order in which they were sent; the caller does not count failed ones.
   */
  settle(request: OutcomesRequest): Promise<Flows & { readonly elapsedMs: number }>;
}

export function createOutcomes(): Outcomes {
  const open: OpenAttempt[] = [];
  return {
    async create({ count, ...request }, players, isNextWin) {
      const made: (OpenAttempt | undefined)[] = [];
      await withClients(request, async (connection) => {
        if (made.length === count) return false;
        const wins = isNextWin();
        const assignment = players.take(wins ? 'win' : 'loss');
        const index = made.push(undefined) - 1;
        const id = await createAttempt(connection, assignment.player, assignment.challengeId);
        assignment.release();
        if (id === null) throw new Error('an attempt of the benchmark was not created');
        made[index] = { id, player: assignment.player, wins };
        return true;
      });
      open.push(...made.filter((attempt) => attempt !== undefined));
    },
    async settle({ count, targets, ...request }) {
      const attempts = open.splice(0, count);
      if (attempts.length < count) throw new Error('more outcomes than attempts');
      const results: FlowResult[] = [];
      const latenciesMs: number[] = [];
      const started = performance.now();
      await withClients(request, async (connection) => {
        const attempt = attempts[results.length];
        if (attempt === undefined) return false;
        const index = results.push('failed') - 1;
        const sentAt = performance.now();
        if (await isSettled(connection, attempt, targets)) results[index] = attempt.wins ? 'won' : 'lost';
        latenciesMs[index] = performance.now() - sentAt;
        return true;
      });
      return { results, latenciesMs, elapsedMs: performance.now() - started };
    },
  };
}

/** Each client repeats `step` on its own connection until nothing is left. */
async function withClients(
  { host, port, clients }: { readonly host: string; readonly port: number; readonly clients: number },
  step: (connection: HttpConnection) => Promise<boolean>,
): Promise<void> {
  const client = async () => {
    const connection = new HttpConnection(host, port);
    while (await step(connection));
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Whether the response was the expected one; a push has the same response as `/v1`. */
async function isSettled(
  connection: HttpConnection,
  { id, player, wins }: OpenAttempt,
  targets: ReadonlyMap<string, PushTarget> | undefined,
): Promise<boolean> {
  const score = wins ? THRESHOLD + 1 : THRESHOLD - 1;
  const fields = `"score":${score},"evidence":{"run":"${id}"}`;
  try {
    const { status, body } =
      targets === undefined
        ? await report(connection, player.program.testKey, id, `{${fields}}`)
        : await push(connection, targetOf(targets, player), `{"attempt_id":"${id}",${fields}}`);
    const expected = [`"attempt_id":"${id}"`, `"score":${score},`, `"met_threshold":${wins},`];
    const isPaid = body.includes('"payout_status":"paid"');
    return (
      (status === 200 && isPaid === wins && expected.every((part) => body.includes(part))) ||
      reportUnexpected(status, body)
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return false;
  }
}

function targetOf(targets: ReadonlyMap<string, PushTarget>, { program }: Player): PushTarget {
  const target = targets.get(program.programId);
  if (target === undefined) throw new Error('a program has no integration');
  return target;
}
