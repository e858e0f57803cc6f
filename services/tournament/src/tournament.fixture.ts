/**
 * The fixture of this service's tests: the service itself on a real database, and the real wallet
 * in its own process.
 */
import { connectWallet } from '@laurel/attempts';
import { type EventType, eventIdOf, eventTypeOf } from '@laurel/events';
import { joinServices, type TypedClient } from '@laurel/grpc';
import { type CheckResult, createDatabase, type Database, type SlicedAudit, type SliceLimits } from '@laurel/postgres';
import {
  type Attempt,
  type AttemptCreationResult,
  AttemptServiceClient,
  type AttemptServiceService,
  type OutcomeReportResult,
} from '@laurel/proto/attempts';
import { Environment, type Tenant } from '@laurel/proto/common';
import { Event } from '@laurel/proto/events';
import { TournamentServiceClient, type TournamentServiceService } from '@laurel/proto/tournament';
import type { WalletServiceService } from '@laurel/proto/wallet';
import { createSigner } from '@laurel/signature';
import {
  connectTo,
  created,
  createQuietLogger,
  createTestClock,
  createTestDatabase,
  expectAccepted,
  findingMessage,
  retryUntilOk,
  startTestWallet,
  type TestClock,
  type TestPlayer,
  unmatchedEvents,
  verdictOf,
  violationsOf,
} from '@laurel/testing';
import { useStarted } from '@laurel/testing/harness';
import { newId, newOwnedId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { expect } from 'vitest';
import { tournamentConfigSchema } from './config.ts';
import { decideRound } from './domain/round-opening.ts';
import type { Round, Tournament, TournamentTerms } from './domain/tournament.ts';
import { createContinuousAudit } from './handlers/audit.ts';
import { insertRound } from './repository/rounds.ts';
import { insertTournament } from './repository/tournaments.ts';
import { startTournament, type TournamentServer } from './server.ts';

export { created, recorded, verdictOf } from '@laurel/testing';

export const PROGRAM: Tenant = { programId: '11111111-1111-8111-8111-111111111111', environment: Environment.TEST };
export const LIVE_PROGRAM: Tenant = { ...PROGRAM, environment: Environment.LIVE };
export const OTHER_PROGRAM: Tenant = {
  programId: '22222222-2222-8222-8222-222222222222',
  environment: Environment.TEST,
};
export const SIGNING_SEED = Buffer.alloc(32, 9);
/** The signer of receipts and seals in these tests. */
export const SIGNER = createSigner(SIGNING_SEED);

export const HOUR_MS = 3_600_000;
export const TEN_MINUTES_MS = 600_000;

/** The balance that every player of these tests starts with, and the price of one attempt. */
export const FUNDS = 100_000n;
export const FEE = 500n;

const TERMS: TournamentTerms = {
  name: 'Weekend cup',
  description: null,
  metricName: 'distance',
  metricUnit: 'm',
  direction: 'higher_is_better',
  tiebreak: null,
  entryFeeCents: cents(FEE),
  attemptCap: 3,
  purse: [cents(10_000n), cents(5_000n), cents(5_000n)],
  minEntrants: 1,
  minScoredAttempts: 0,
  roundLengthSeconds: null,
};

export const BY_SECONDS: Partial<TournamentTerms> = {
  tiebreak: { metricName: 'seconds', direction: 'lower_is_better' },
};

/** The rpcs of this service and of AttemptService. */
type Rpcs = TournamentServiceService & AttemptServiceService;

export type Replica = {
  readonly server: TournamentServer;
  readonly tournament: TypedClient<Rpcs>;
} & AsyncDisposable;

export interface Harness extends AsyncDisposable {
  readonly tournament: TypedClient<Rpcs>;
  readonly wallet: TypedClient<WalletServiceService>;
  readonly server: TournamentServer;
  readonly database: Database;
  /** The URL by which the service's role uses the database. */
  readonly runningUrl: string;
  /** The database's URL for the role that deletes archived months. */
  readonly archiveUrl: string;
  readonly clock: TestClock;
  /** The prefix of this harness's own stream of events. */
  readonly eventsPrefix: string;
  /** A second replica on the same database and wallet, with the same clock. */
  startReplica(): Promise<Replica>;
  stopWallet(): Promise<void>;
  startWallet(): Promise<void>;
  /** Creates an account with this ref and this much money. */
  player(playerRef?: string, fundsCents?: bigint, tenant?: Tenant): Promise<TestPlayer>;
  /** Creates one more ref of the player's account. */
  secondRefOf(player: TestPlayer): Promise<string>;
  balance(accountId: string, environment?: Environment): Promise<bigint>;
  /** Blocks the account from playing for money. */
  block(accountId: string): Promise<void>;
  /** Creates a tournament with a round that is open from now on, for two hours by default. */
  openRound(
    terms?: Partial<TournamentTerms>,
    options?: { readonly lengthMs?: number; readonly opensInMs?: number; readonly tenant?: Tenant },
  ): Promise<Round>;
  create(
    roundId: string,
    playerRef: string,
    attemptId?: string,
    tenant?: Tenant,
  ): Promise<AttemptCreationResult['result']>;
  report(
    attemptId: string,
    score: number,
    options?: {
      readonly tiebreak?: number;
      readonly operationId?: string;
      readonly evidence?: string;
      readonly tenant?: Tenant;
    },
  ): Promise<OutcomeReportResult['result']>;
  /** An open attempt of a new player in a new round. */
  openAttempt(
    terms?: Partial<TournamentTerms>,
  ): Promise<{ readonly round: Round; readonly player: TestPlayer; readonly attempt: Attempt }>;
  /**
   * An attempt whose fee the wallet never received, because it was down during the charge. The
   * round has another attempt, which is open.
   */
  pendingAttempt(): Promise<{ readonly round: Round; readonly player: TestPlayer; readonly attemptId: string }>;
  /**
   * Returns the facts of attempts and rounds that lack an event, and the events that lack a fact.
   */
  wrongEvents(): Promise<readonly string[]>;
  /** The audit that the service runs all the time, with the privileges of the service. */
  auditInSlices(limits?: SliceLimits): SlicedAudit;
  /** Every check of the audit that found something. The audit in slices must find the same. */
  violations(): Promise<readonly string[]>;
  /** The checks of this service that find violations of real money. */
  liveViolations(): Promise<readonly string[]>;
}

// No server listens at this address, so events stay in the outbox.
const NO_NATS = 'nats://127.0.0.1:1';

/**
 * The harness of one test file; it exists while the file's tests run. At the end its audit must be
 * clean and every event emitted. With `takesEvents` the tests, or a consumer, take events out of
 * the outbox, and the events are not compared.
 */
export function useHarness({
  natsUrl = NO_NATS,
  takesEvents = natsUrl !== NO_NATS,
  startsAt,
}: {
  readonly natsUrl?: string;
  readonly takesEvents?: boolean;
  /** Where the clock begins; the present by default. */
  readonly startsAt?: Date;
} = {}): Harness {
  return useStarted(
    () => startHarness(natsUrl, startsAt),
    async (harness) => {
      expect(await harness.violations(), findingMessage('the audit reports')).toEqual([]);
      if (!takesEvents) expect(await harness.wrongEvents()).toEqual([]);
    },
  );
}

/** A second replica for the tests of one file. */
export function useReplica(harness: Harness): Replica {
  return useStarted(() => harness.startReplica());
}

/** An item that came without an idempotency key. */
const WITHOUT_KEY = { requestId: 'r', keyUse: undefined };

async function startHarness(natsUrl: string, startsAt?: Date): Promise<Harness> {
  await using starting = new AsyncDisposableStack();
  const scratch = starting.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  const wallet = starting.use(await startTestWallet());

  const config = tournamentConfigSchema.parse({
    GRPC_PORT: '0',
    TOURNAMENT_DATABASE_URL: scratch.runningUrl,
    WALLET_ADDRESS: wallet.address,
    RECEIPT_SIGNING_SEED: SIGNING_SEED.toString('base64'),
    // Sweepers run only when a test runs them.
    SWEEP_INTERVAL_MS: '2000000',
    NATS_URL: natsUrl,
    EVENTS_PREFIX: `tournament-${newId().slice(-12)}`,
    // Only a sweep looks for events that were not published, so it need not wait for those in
    // flight.
    OUTBOX_REPUBLISH_AFTER_MS: '1',
  });
  const clock = createTestClock(startsAt);
  const replicas = new Set<Replica['tournament']>();
  const startReplica = async (): Promise<Replica> => {
    const server = await startTournament(config, createQuietLogger('tournament'), clock);
    const { client, ...replica } = connectTo(
      server,
      joinServices(TournamentServiceClient, AttemptServiceClient),
      'tournament',
    );
    replicas.add(client);
    return {
      ...replica,
      tournament: client,
      async [Symbol.asyncDispose]() {
        replicas.delete(client);
        await replica[Symbol.asyncDispose]();
      },
    };
  };
  const { server, tournament } = starting.use(await startReplica());
  const database = starting.use(
    createDatabase({ url: scratch.url, maxConnections: 2, applicationName: 'tournament-test' }),
  );

  const continuous = connectAudit(starting, scratch.runningUrl, wallet.address);

  const running = starting.move();
  const harness: Harness = {
    tournament,
    wallet: wallet.client,
    server,
    database,
    runningUrl: scratch.runningUrl,
    archiveUrl: scratch.archiveUrl ?? '',
    clock,
    eventsPrefix: config.EVENTS_PREFIX,
    startReplica,
    stopWallet: wallet.stop,
    async startWallet() {
      await wallet.start();
      // Each replica reconnects by itself; the test continues when all of them have.
      for (const replica of replicas) await retryUntilOk(() => replica.audit({}));
      await continuous.reconnected();
    },
    player: (playerRef = `player-${newId()}`, fundsCents = FUNDS, tenant = PROGRAM) =>
      wallet.addPlayer(tenant, playerRef, fundsCents),
    async secondRefOf({ email }) {
      const playerRef = `second-${newId()}`;
      expectAccepted(await wallet.client.putPlayerLink({ player: { tenant: PROGRAM, playerRef }, email }));
      return playerRef;
    },
    balance: wallet.balanceOf,
    block: wallet.block,
    async openRound(terms = {}, { lengthMs = 2 * HOUR_MS, opensInMs = 0, tenant = PROGRAM } = {}) {
      const now = clock();
      const opened: Tournament = {
        id: newId(),
        tenant: storedTenant(tenant),
        status: 'active',
        terms: { ...TERMS, ...terms },
        createdAt: now,
      };
      const opensAt = new Date(now.getTime() + opensInMs);
      const closesAt = new Date(opensAt.getTime() + lengthMs);
      const facts = { tournament: opened, hasOpenRound: false, id: newId(), number: 1, opensAt, closesAt, now };
      const { round } = expectAccepted(decideRound(facts));
      await insertTournament(database, opened);
      await insertRound(database, round);
      return round;
    },
    async create(roundId, playerRef, attemptId = newOwnedId('tournament'), tenant = PROGRAM) {
      const creation = { attemptId, tenant, contestId: roundId, playerRef, metadataJson: '{"a":1}', ...WITHOUT_KEY };
      return expectAccepted(await tournament.createAttempts({ creations: [creation] })).results[0]?.result;
    },
    async report(attemptId, score, { tiebreak, operationId = newId(), evidence = '', tenant = PROGRAM } = {}) {
      const report = { operationId, attemptId, tenant, score, tiebreak, evidenceJson: evidence, ...WITHOUT_KEY };
      return expectAccepted(await tournament.reportOutcomes({ reports: [report] })).results[0]?.result;
    },
    async openAttempt(terms = {}) {
      const round = await harness.openRound(terms);
      const player = await harness.player();
      return { round, player, attempt: created(await harness.create(round.id, player.ref)) };
    },
    async pendingAttempt() {
      // The first attempt makes the service cache the account of the ref.
      const { round, player } = await harness.openAttempt();
      const attemptId = newOwnedId('tournament');
      await harness.stopWallet();
      expect(verdictOf(await harness.create(round.id, player.ref, attemptId))).toBe('failure');
      await harness.startWallet();
      return { round, player, attemptId };
    },
    wrongEvents: () => findWrongEvents(database),
    async liveViolations() {
      const { checks } = expectAccepted(await tournament.audit({}));
      return checks.filter(({ violations, testViolations }) => violations > testViolations).map(({ id }) => id);
    },
    auditInSlices: continuous.inSlices,
    async violations() {
      const { checks } = expectAccepted(await tournament.audit({}));
      await continuous.expectSame(checks);
      return violationsOf([...checks, ...expectAccepted(await wallet.client.audit({})).checks]);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  return harness;
}

function storedTenant({ programId, environment }: Tenant): Tournament['tenant'] {
  return { programId, environment: environment === Environment.LIVE ? 'live' : 'test' };
}

/** The audit that the service runs all the time, on connections of its own. */
function connectAudit(starting: AsyncDisposableStack, url: string, walletAddress: string) {
  const database = starting.use(createDatabase({ url, maxConnections: 2, applicationName: 'tournament-audit' }));
  const wallet = starting.use(connectWallet(walletAddress));
  const inSlices = (limits?: SliceLimits) => createContinuousAudit({ database, wallet }, limits);
  const counted = ({ id, violations, testViolations }: Omit<CheckResult, 'examples'>) => ({
    id,
    violations,
    testViolations,
  });
  return {
    inSlices,
    reconnected: () => retryUntilOk(() => wallet.listFees('tournament', newId(), 1)),
    async expectSame(checks: readonly CheckResult[]) {
      expect((await inSlices({ maxPageSize: 1_000 }).run()).map(counted)).toEqual(checks.map(counted));
    },
  };
}

// One statement, so that everything is from one snapshot. A cancellation also queues the fees of
// the round's scored attempts.
const EMITTED_AND_EXPECTED = {
  text: `
select payload, null::text as type, null::uuid as id from outbox
union all
select null, 'attempt.settled', id from all_attempts where status = 'settled'
union all
select null, 'attempt.refunded', a.id from all_attempts a join rounds r on r.id = a.round_id
where a.status in ('expired', 'voided') or (a.status = 'settled' and r.status in ('cancelling', 'cancelled')
  and not exists (select from refunds_due d where d.attempt_id = a.id))
union all
select null, 'round.' || status, id from rounds where status in ('settled', 'cancelled')`,
};

async function findWrongEvents(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ payload: Buffer } | { payload: null; type: EventType; id: string }>(
    EMITTED_AND_EXPECTED,
  );
  const emitted = new Set<string>();
  const expected = new Set<string>();
  for (const row of rows) {
    if (row.payload === null) {
      expected.add(`${row.type} ${eventIdOf(row.type, row.id)}`);
      continue;
    }
    const event = Event.decode(row.payload);
    const type = eventTypeOf(event);
    if (type !== 'award.released') emitted.add(`${type} ${event.id}`);
  }
  return unmatchedEvents(expected, emitted);
}
