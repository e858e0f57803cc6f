/**
 * A stack over six backed-up servers. It is played on until a quiet instant and beyond, with a busy
 * instant in the second part. Each restore begins with the same base backups and archives, so that
 * tests do not affect each other.
 */
import type { Service } from '@laurel/testing';
import { CONTEST_SERVICES } from '../contest-service-checks.ts';
import { withBroker } from '../faults/broker.ts';
import { type Developer, eventually, expectStatus, type Hook, type Player, startWorld, type World } from '../world.ts';
import { type BackedUpServers, startBackedUpServers } from './backed-up-servers.ts';
import {
  type Carried,
  type Contests,
  type Deposit,
  type LastMoments,
  newContests,
  openCarried,
  playAfter,
  playLastMoments,
  playUntil,
} from './load.ts';
import { attemptIdOf, type Game, gamesOf, type Step, startPlay } from './play.ts';

const PLAYERS = 6;
/** About half of the requests after the quiet instant. */
const BEFORE_BUSY = 60;
/** The longest wait on a machine with eight times as much to do as it has cores. */
const WAIT_MS = 120_000;
/** The order of the start: a service comes after the services that it calls. */
const START_ORDER: readonly (readonly Service[])[] = [
  ['wallet'],
  ['challenge', 'tournament'],
  ['webhook', 'integration'],
  ['gateway'],
];

/** Instants in PostgreSQL's format. */
export interface Instants {
  /** An instant at which nothing was under way and everything was settled. */
  readonly quiet: string;
  /** An instant at which players were playing. */
  readonly busy: string;
}

export interface Site extends AsyncDisposable, Instants {
  readonly world: World;
  readonly developer: Developer;
  readonly hook: Hook;
  readonly players: readonly Player[];
  readonly contests: Contests;
  readonly carried: Carried;
  /** Requests that were answered before the quiet instant. */
  readonly before: readonly Step[];
  /** Requests that were sent after the quiet instant. */
  readonly after: readonly Step[];
  /** Booked between the quiet instant and the end. */
  readonly deposits: readonly Deposit[];
  readonly lastMoments: LastMoments;
  /** The state at the end of the archives. */
  readonly atEnd: State;
  /**
   * Stops all services, restores all databases, and starts the services. Each named database is
   * restored to its instant, the others to the end of their archives. The stream of events is
   * emptied.
   */
  restore(instants: Partial<Record<Service, string>>): Promise<void>;
  read(): Promise<State>;
  /** Resolves with only the balances, even while some attempts are missing. */
  balances(): Promise<readonly string[]>;
  /** The attempt's status at the end of the archives. */
  statusOf(game: Game): string;
  /** Resolves when the workers have no work left. */
  settled(): Promise<void>;
  /**
   * Resolves when the sweepers have resolved every attempt created until this instant, and the
   * events have been delivered.
   */
  swept(instant: string): Promise<void>;
  /** Adds a line to the run's final report of findings and repairs. */
  note(line: string): void;
}

/** What players and partners see. */
export interface State {
  /** The balance of each player, in order. */
  readonly balances: readonly string[];
  /** The status of each attempt, in order. */
  readonly statuses: readonly string[];
}

export async function openSite(): Promise<Site> {
  await using cleanup = new AsyncDisposableStack();
  const notes: string[] = [];
  cleanup.defer(() => console.log(notes.join('\n')));
  const servers = cleanup.use(await startBackedUpServers());
  const ofContests = { OUTBOX_REPUBLISH_AFTER_MS: '200', PENDING_GRACE_SECONDS: '3' };
  const world = cleanup.use(
    await startWorld({
      postgresUrl: servers.urls,
      environment: { challenge: ofContests, tournament: ofContests, gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' } },
    }),
  );
  const developer = await world.newDeveloper();
  const hook = await world.newReceiver(developer);
  const { program } = developer;
  const players = await Promise.all(
    Array.from({ length: PLAYERS }, () => world.newPlayer({ partner: program.test, funds: '1000.00' })),
  );
  const contests = await newContests(world, program);
  const settled = () => settle(world);

  const first = startPlay(world, program);
  const sizes = await underLoad(
    () => servers.each((server) => server.backUp()),
    (isOver) => playUntil(first, contests, players, isOver),
  );
  const carried = await openCarried(first, contests, players);
  await settled();
  const quiet = await instantOf(world);

  const second = startPlay(world, program);
  const [busy, deposits] = await Promise.all([
    second.answered(BEFORE_BUSY).then(() => instantOf(world)),
    playAfter(world, second, contests, players, carried),
  ]);
  const lastMoments = await playLastMoments(world, developer, contests, carried);
  await settled();
  await servers.each((server) => server.archiveAll());

  const steps = [...first.steps, ...second.steps];
  const games = gamesOf(steps);
  const balances = () => Promise.all(players.map((player) => world.balance(player)));
  const read = async (): Promise<State> => ({
    balances: await balances(),
    statuses: await Promise.all(
      games.map(async ({ id }) => expectStatus(200, await program.test.getAttempt(id)).body.status),
    ),
  });
  const archived = await servers.each((server) => server.archivedBytes());
  notes.push(`six base backups of ${megabytes(sizes)} and archives of ${megabytes(archived)}`);
  const atEnd = await read();
  const owned = cleanup.move();
  return {
    world,
    developer,
    hook,
    players,
    contests,
    carried,
    before: first.steps,
    after: second.steps,
    deposits,
    lastMoments,
    quiet,
    busy,
    atEnd,
    read,
    balances,
    statusOf: (game) => atEnd.statuses[games.indexOf(game)] ?? '',
    settled,
    swept: (instant) => sweep(world, instant),
    note: (line) => notes.push(line),
    restore: async (instants) => {
      for (const { game, act, answer } of steps) if (act === 'create') game.id = attemptIdOf({ answer });
      const { databases, all } = await restoreAll(world, servers, instants);
      const earlier = Object.keys(instants).join(', ') || 'none';
      notes.push(`restored to an earlier instant: ${earlier} (databases ${databases} s, with the services ${all} s)`);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Runs the load for as long as the work takes, and at least once. */
async function underLoad<T>(work: () => Promise<T>, load: (isOver: () => boolean) => Promise<void>): Promise<T> {
  let isOver = false;
  const working = work().finally(() => {
    isOver = true;
  });
  const [result] = await Promise.all([working, load(() => isOver)]);
  return result;
}

async function settle(world: World): Promise<void> {
  await world.allWritten();
  await world.allDelivered();
}

async function sweep(world: World, instant: string): Promise<void> {
  const query = `select 1 from sweep_marks where sweep = 'resolve_pending' and swept_until >= $1::timestamptz`;
  for (const contestService of CONTEST_SERVICES) {
    const isPast = async () =>
      (await world.stack.database(contestService).query(query, [instant])).length === 1 || undefined;
    await eventually(isPast, `the sweep of the ${contestService} service is past ${instant}`, WAIT_MS);
  }
  await world.allDelivered();
}

/** The clock that all servers share, to the microsecond. */
async function instantOf(world: World): Promise<string> {
  const [row] = await world.stack.database('wallet').query<{ now: string }>('select clock_timestamp()::text as now');
  if (row === undefined) throw new Error('the wallet’s database did not answer');
  return row.now;
}

/**
 * Returns the seconds that the six databases took, and those from the stop of the gateway until all
 * services were ready.
 */
async function restoreAll(
  { stack }: World,
  servers: BackedUpServers,
  instants: Partial<Record<Service, string>>,
): Promise<{ readonly databases: string; readonly all: string }> {
  const begunAt = performance.now();
  const since = (instant: number) => ((performance.now() - instant) / 1_000).toFixed(1);
  for (const services of START_ORDER.toReversed()) {
    await Promise.all(services.map((service) => stack.stop(service)));
  }
  const stoppedAt = performance.now();
  await servers.each((server, service) => server.restore(instants[service]));
  const databases = since(stoppedAt);
  await eventually(
    () => withBroker(stack, ({ streams }, stream) => streams.purge(stream)).catch(() => undefined),
    'the stream is empty',
    WAIT_MS,
  );
  for (const services of START_ORDER) await Promise.all(services.map((service) => stack.restart(service)));
  return { databases, all: since(begunAt) };
}

function megabytes(sizes: readonly number[]): string {
  return `${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1_000_000)} MB`;
}
