// Years of data: a stack filled with settled attempts, audited, and measured beside an empty one.
// LAUREL_BENCH_ATTEMPTS is the number of attempts (10,000,000).
import { SERVICES, type Stack } from '@laurel/testing';
import pg from 'pg';
import { auditEach, auditForOperator } from './scale/audits.ts';
import { whenCaughtUp } from './scale/catch-up.ts';
import { type Contests, createContests } from './scale/contests.ts';
import { type Figure, printFigures, tableOf } from './scale/figures.ts';
import { fillChallenge } from './scale/fill-challenge.ts';
import { fillTournament } from './scale/fill-tournament.ts';
import { fillWallet } from './scale/fill-wallet.ts';
import { fillWebhook } from './scale/fill-webhook.ts';
import { measureFlows } from './scale/flows.ts';
import { measureReads } from './scale/reads.ts';
import { measureRestore } from './scale/restore.ts';
import { createShape, type Shape } from './scale/shape.ts';
import { measureSizes } from './scale/sizes.ts';
import type { MeasuredTurn, TurnOrder } from './turns.ts';

/** Settings of the measurement: the server logs the plan of every statement over 500 ms. */
export const PLAN_SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '500ms',
};

/** Settings of the server during the fill, which may lose data: after a crash the fill restarts. */
export const FILL_SETTINGS = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  work_mem: '256MB',
  maintenance_work_mem: '1GB',
};

/** A filled stack that runs again. */
interface FilledStack {
  readonly shape: Shape;
  readonly contests: Contests;
  /** The time and memory of the fill and of its audits. */
  readonly figures: readonly Figure[];
}

type Filler = (client: pg.Client, shape: Shape, contests: Contests) => Promise<void>;

/** The fillers run at the same time; the wallet's takes longest. */
const FILLERS: readonly (readonly ['wallet' | 'challenge' | 'tournament' | 'webhook', Filler])[] = [
  ['wallet', fillWallet],
  ['challenge', fillChallenge],
  ['tournament', fillTournament],
  ['webhook', fillWebhook],
];

/**
 * Fills the databases of a new stack while its services are down. `restartServer` starts the server
 * again with the settings of the measurement.
 */
export async function fillStack(
  stack: Stack,
  { superuserUrl, restartServer }: { readonly superuserUrl: string; readonly restartServer: () => Promise<void> },
): Promise<FilledStack> {
  const shape = createShape(Number(process.env.LAUREL_BENCH_ATTEMPTS ?? 10_000_000), new Date());
  console.log(`filling the stack with ${shape.attempts.toLocaleString('en')} attempts ...`);
  const figures: Figure[] = [];
  const timed = async (name: string, work: () => Promise<void>) => {
    const startedAt = performance.now();
    await work();
    const seconds = (performance.now() - startedAt) / 1000;
    figures.push({ name, seconds });
    console.log(`  ${name}: ${seconds.toFixed(1)} s`);
  };

  const contests = await createContests(stack);
  await Promise.all(SERVICES.map((service) => stack.stop(service)));
  await timed('fill: rows, indexes and keys', async () => {
    await Promise.all(
      FILLERS.map(([service, fill]) =>
        timed(`  of the ${service} service`, () =>
          withClient(superuserUrl, stack, service, (client) => fill(client, shape, contests)),
        ),
      ),
    );
  });
  await timed('fill: vacuum and statistics', async () => {
    await Promise.all(
      FILLERS.map(([service]) =>
        withClient(superuserUrl, stack, service, (client) => client.query('vacuum (analyze)')),
      ),
    );
    await withClient(superuserUrl, stack, 'wallet', (client) => client.query('checkpoint'));
  });
  await restartServer();
  await Promise.all(SERVICES.map((service) => stack.restart(service)));
  await timed('fill: seals of rounds and days of money, by the services', () => whenCaughtUp(stack));
  const audited = printFigures(await auditEach(stack));
  return { shape, contests, figures: [...figures, ...audited] };
}

/** Measures the filled stack, and returns the printed table. */
export async function measureScale(
  { shape, contests, figures }: FilledStack,
  on: {
    readonly stack: Stack;
    readonly superuserUrl: string;
    readonly directory: string;
    readonly clientCounts: readonly number[];
    readonly durationMs: number;
    readonly take: (order: TurnOrder) => Promise<MeasuredTurn>;
  },
): Promise<(string | number)[][]> {
  const reads = printFigures(await measureReads(on.stack, shape, contests));
  const flows = printFigures(await measureFlows(on));
  const sizes = printFigures(await measureSizes(on.stack));
  const audited = printFigures([await auditForOperator(on.stack)]);
  const restored = printFigures(
    await measureRestore(on.superuserUrl, on.stack.database('wallet').ownerUrl, on.directory),
  );
  return tableOf(`${shape.attempts.toLocaleString('en')} attempts`, [
    ...figures,
    ...reads,
    ...flows,
    ...audited,
    ...restored,
    ...sizes,
  ]);
}

/** A superuser's session in which no trigger fires. */
async function withClient<Result>(
  superuserUrl: string,
  stack: Stack,
  service: (typeof FILLERS)[number][0],
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const url = new URL(superuserUrl);
  url.pathname = new URL(stack.database(service).ownerUrl).pathname;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    return await work(client);
  } finally {
    await client.end();
  }
}
