import { randomUUID } from 'node:crypto';
import type { Challenge, FullLeaderboard, Leaderboard, Outcome, Round, WebhookEventType } from '@laurel/sdk';
import {
  type Answer,
  type AuditBody,
  type ChallengeTerms,
  createHttpClient,
  createOperator,
  createPartner,
  createPortal,
  DESCRIBED_STACK_VARIABLE,
  type DeliveryBody,
  type DeliveryQuery,
  type EndpointBody,
  findingMessage,
  type HttpClient,
  type JoinableStack,
  type NewEndpoint,
  type Operator,
  type OperatorTournamentBody,
  openDescribedStack,
  type Partner,
  type Portal,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
  SERVICES,
  type Service,
  type Stack,
  type StackOptions,
  signIn,
  startReceiver,
  startStack,
  type TournamentTerms,
} from '@laurel/testing';
import { type Contract, loadContract } from '@laurel/testing/contract';
import { byService } from '@laurel/topology';
import { expect } from 'vitest';
import { BLACK_BOX_SETTINGS } from './black-box-settings.ts';

/** A program with its keys, as a partner holds them. */
export interface Program {
  readonly id: string;
  readonly test: Partner;
  /** Present on an approved program. */
  readonly live: Partner;
}

/** A developer with an open session of the portal, and a first program. */
export interface Developer {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly portal: Portal;
  readonly program: Program;
}

/** The body of a webhook. */
export interface EventBody {
  readonly event: WebhookEventType;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}

/** One request of the webhook service to a hook. */
export interface HookRequest extends ReceivedRequest {
  readonly deliveryId: string;
  readonly json: EventBody;
}

/** The options of an endpoint, which by default gets all events of all programs. */
export interface HookOptions extends Partial<Omit<NewEndpoint, 'url'>> {
  /** The host in the endpoint's URL; the receiver's address by default. */
  readonly host?: string;
  readonly answer?: Exclude<ReceiverOptions['answer'], undefined>;
  /** Options of the server, besides those that make the stack trust it. */
  readonly server?: Partial<ReceiverOptions>;
}

/** A developer's server that receives webhooks, registered as an endpoint. */
export interface Hook {
  readonly receiver: Receiver;
  readonly endpoint: EndpointBody;
  /** The secret in the response that created the endpoint. */
  readonly secret: string;
  readonly contract: Contract;
  /** Every request so far. */
  requests(): readonly HookRequest[];
  /** Resolves with the first request, past or future, that satisfies the predicate. */
  find(holds: (request: HookRequest) => boolean): Promise<HookRequest>;
  /** The first event of this type that names this attempt, challenge, round or award. */
  event(type: WebhookEventType, id: string): Promise<HookRequest>;
  /** Every send of a delivery so far. */
  sendsOf(deliveryId: string): readonly HookRequest[];
  /** A page of the delivery log. */
  log(query?: DeliveryQuery): Promise<readonly DeliveryBody[]>;
  /**
   * A delivery of the log, once it satisfies the predicate; by default, once it is no longer
   * pending.
   */
  delivery(id: string, holds?: (delivery: DeliveryBody) => boolean): Promise<DeliveryBody>;
}

/** A person with an account, linked to a ref of a program. */
export interface Player {
  readonly ref: string;
  readonly accountId: string;
  readonly email: string;
}

export interface PlayerOptions {
  readonly environment?: 'test' | 'live';
  readonly funds?: string;
  readonly account?: Record<string, unknown>;
  readonly partner?: Partner;
}

/** A running stack with one approved program, and the helpers of the tests. */
export interface World extends AsyncDisposable {
  readonly stack: Stack;
  readonly http: HttpClient;
  readonly operator: Operator;
  readonly contract: Contract;
  readonly program: Program;
  /** The first program's sandbox key. */
  readonly partner: Partner;
  /** An approved program, of this developer if one is given. */
  newProgram(developer?: { readonly id: string }): Promise<Program>;
  newDeveloper(): Promise<Developer>;
  /** A server of the developer that receives webhooks, registered as an endpoint. */
  newReceiver(developer: Pick<Developer, 'portal'>, options?: HookOptions): Promise<Hook>;
  /**
   * An account with money, linked to a new ref: in live a person, in test a sandbox account of the
   * program.
   */
  newPlayer(options?: PlayerOptions): Promise<Player>;
  /** A live challenge: fee 1.00, prize 5.00, a score of 100 or more clears it. */
  newChallenge(terms?: ChallengeTerms, program?: Program): Promise<Challenge>;
  /**
   * An active tournament: entry 1.00, cap 5, payouts 5.00, 3.00 and 2.00 for the first three ranks,
   * one entrant is enough. It has no round.
   */
  newTournament(terms?: TournamentTerms, program?: Program): Promise<OperatorTournamentBody>;
  /** A round that is open for an hour, in a new tournament with these terms. */
  newRound(terms?: TournamentTerms, program?: Program): Promise<Round>;
  /** The next round of a tournament, open for an hour. */
  openRound(tournamentId: string): Promise<Round>;
  /** Plays one attempt in the round, with a score. */
  playRound(roundId: string, player: Player, score: number, tiebreak?: number): Promise<Outcome>;
  balance(player: Player, environment?: 'test' | 'live'): Promise<string>;
  /**
   * Resolves when all payouts and refunds that are owed now are recorded, and all earlier events
   * are acknowledged.
   */
  allAcknowledged(): Promise<void>;
  /** Resolves when every event is acknowledged and no send of it is due or under way. */
  allDelivered(): Promise<void>;
  /** Resolves when the services have finished all writes that follow their responses so far. */
  allWritten(): Promise<void>;
  /** A digest of every row of every database that a partner's request could change. */
  digest(): Promise<Record<string, string>>;
  expectAuditOk(): Promise<void>;
}

/**
 * A world on the stack that a worker's test files share, one after the other. Its program, and
 * everything made in it, is the file's own. Rows of earlier files remain, so there is no digest of
 * everything, and no file may end or break a service.
 */
export interface SharedWorld extends Omit<World, 'stack' | 'digest'> {
  readonly stack: Pick<Stack, 'database' | 'baseUrl' | 'operatorToken'>;
}

/** A world on a separate stack. */
export async function startWorld(options: StackOptions = {}): Promise<World> {
  await using cleanup = new AsyncDisposableStack();
  const stack = cleanup.use(await startTestStack(options));
  const world = cleanup.use(await createWorld(stack, { isPreviousRelease: options.checkout !== undefined }));
  const owned = cleanup.move();
  return { ...world, stack, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

let sharedStack: Promise<JoinableStack> | undefined;

/**
 * A world on the shared stack, which a worker's first file starts and which ends with the worker;
 * or on the running stack that LAUREL_TEST_STACK describes.
 */
export async function joinWorld(): Promise<SharedWorld> {
  const described = process.env[DESCRIBED_STACK_VARIABLE];
  sharedStack ??= described === undefined ? startTestStack() : openDescribedStack(described);
  // If the stack does not start, only the file that requested it fails.
  sharedStack.catch(() => {
    sharedStack = undefined;
  });
  return createWorld(await sharedStack);
}

function startTestStack({ environment, ...options }: StackOptions = {}): Promise<Stack> {
  return startStack({
    ...options,
    environment: byService((service) => ({ ...BLACK_BOX_SETTINGS[service], ...environment?.[service] })),
  });
}

/**
 * Every response is checked against the documents of this checkout. If the previous release serves,
 * responses of the routes below `/api` are not checked, because those routes may change with any
 * release.
 */
async function createWorld(
  stack: JoinableStack,
  { isPreviousRelease = false } = {},
): Promise<Omit<World, 'stack'> & { readonly stack: JoinableStack }> {
  await using cleanup = new AsyncDisposableStack();
  const contract = await loadContract(stack.baseUrl);
  const onAnswer: Contract['check'] = (entry) => {
    if (!(isPreviousRelease && entry.path.startsWith('/api/'))) contract.check(entry);
  };
  const http = cleanup.use(createHttpClient({ baseUrl: stack.baseUrls, connections: 400, onAnswer }));
  const operator = createOperator(http, stack.operatorToken);

  /** The program whose sandbox accounts a partner's key can link, by key. */
  const programIds = new Map<string, string>();
  const newProgram: World['newProgram'] = async (developer) => {
    const created = expectStatus(201, await operator.createProgram(`Program ${randomUUID()}`, developer?.id));
    const approved = expectStatus(200, await operator.approveProgram(created.body.id));
    programIds.set(created.body.test_key, created.body.id).set(approved.body.live_key, created.body.id);
    return {
      id: created.body.id,
      test: createPartner(http, created.body.test_key),
      live: createPartner(http, approved.body.live_key),
    };
  };
  const program = await newProgram();
  const newTournament: World['newTournament'] = async (terms = {}, owner = program) =>
    expectStatus(201, await operator.createTournament(owner.id, tournamentTerms(terms))).body;
  const openRound: World['openRound'] = async (tournamentId) =>
    expectStatus(201, await operator.openRound(tournamentId, { closes_at: inMinutes(60) })).body;
  const owned = cleanup.move();

  return {
    stack,
    http,
    operator,
    contract,
    program,
    partner: program.test,
    newProgram,
    async newDeveloper() {
      const credentials = { email: `${randomUUID()}@example.com`, password: `password ${randomUUID()}` };
      const { id } = expectStatus(201, await operator.createDeveloper(credentials)).body;
      const { token } = expectStatus(201, await signIn(http, credentials)).body;
      return { id, ...credentials, portal: createPortal(http, token), program: await newProgram({ id }) };
    },
    async newReceiver({ portal }, options = {}) {
      const { host = stack.receiverHost, answer = {}, server, ...endpoint } = options;
      const receiver = owned.use(await startReceiver({ ca: stack.ca, host: stack.receiverHost, answer, ...server }));
      const url = `https://${host}:${receiver.port}/webhooks?from=laurel`;
      const registered = await portal.createEndpoint({ url, ...endpoint });
      const { signing_secret: secret, ...made } = expectStatus(201, registered).body;
      return createHook({ portal, receiver, endpoint: made, secret, contract });
    },
    async newPlayer({ environment = 'test', funds = '100.00', account = {}, partner } = {}) {
      const email = `${randomUUID()}@example.com`;
      const owner = partner ?? (environment === 'live' ? program.live : program.test);
      const created = expectStatus(
        201,
        await operator.createAccount({
          email,
          // In test a key links only the sandbox accounts of its own program.
          ...(environment === 'test' && { program_id: programIds.get(owner.apiKey) }),
          date_of_birth: '1990-05-17',
          jurisdiction: 'US-CA',
          verification_level: 1,
          ...account,
        }),
      );
      const accountId = created.body.id;
      if (funds !== '0.00') {
        const reference = randomUUID();
        expectStatus(201, await operator.deposit(accountId, { environment, amount: funds, reference }));
      }
      const ref = `player-${randomUUID()}`;
      expectStatus(201, await owner.linkPlayer(ref, email));
      return { ref, accountId, email };
    },
    async newChallenge(terms = {}, owner = program) {
      return expectStatus(201, await operator.createChallenge(owner.id, liveTerms(terms))).body;
    },
    newTournament,
    async newRound(terms, owner) {
      return openRound((await newTournament(terms, owner)).id);
    },
    openRound,
    async playRound(roundId, player, score, tiebreak) {
      const entered = await program.test.createAttempt({ tournament_round_id: roundId, player_ref: player.ref });
      const report = { score, ...(tiebreak !== undefined && { tiebreak }) };
      const { id } = expectStatus(201, entered).body;
      return expectStatus(200, await program.test.reportOutcome(id, report)).body;
    },
    async balance(player, environment = 'test') {
      return expectStatus(200, await operator.statement(player.accountId, environment)).body.balance;
    },
    allAcknowledged: () => untilGone(stack, UNACKNOWLEDGED),
    allDelivered: () => untilGone(stack, UNDELIVERED),
    allWritten: () => untilGone(stack, UNWRITTEN),
    digest: () => digest(stack),
    async expectAuditOk() {
      const audit = await awaitAudit(operator);
      expect(
        audit.checks.filter((check) => check.violations > 0),
        findingMessage('the audit reports'),
      ).toEqual([]);
      expect(audit.ok).toBe(true);
      expect(audit.checks.length).toBeGreaterThan(5);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function createHook({
  portal,
  receiver,
  endpoint,
  secret,
  contract,
}: Pick<Hook, 'receiver' | 'endpoint' | 'secret' | 'contract'> & { readonly portal: Portal }): Hook {
  const find: Hook['find'] = async (holds) => toHookRequest(await receiver.find((one) => holds(toHookRequest(one))));
  const requests: Hook['requests'] = () => receiver.requests.map(toHookRequest);
  const log: Hook['log'] = async (query) =>
    expectStatus(200, await portal.listDeliveries(endpoint.id, query)).body.data;
  return {
    receiver,
    endpoint,
    secret,
    contract,
    requests,
    find,
    event: (type, id) => find(({ json }) => json.event === type && isAbout(json, id)),
    sendsOf: (deliveryId) => requests().filter((request) => request.deliveryId === deliveryId),
    log,
    delivery: (id, holds = ({ status }) => status !== 'pending') =>
      eventually(
        async () => (await log()).find((delivery) => delivery.id === id && holds(delivery)),
        `the log shows delivery ${id} as awaited`,
      ),
  };
}

function toHookRequest(request: ReceivedRequest): HookRequest {
  const deliveryId = String(request.headers['x-webhook-delivery-id']);
  return { ...request, deliveryId, json: JSON.parse(request.body.toString()) };
}

/** Whether the event concerns this attempt, award, challenge or round. */
function isAbout({ data }: EventBody, id: string): boolean {
  const { attempt_id, challenge_id, tournament_round_id, award } = data;
  return [attempt_id, challenge_id, tournament_round_id, (award as { id?: string } | null | undefined)?.id].includes(
    id,
  );
}

/** The terms of a live challenge, `changes` on top. */
export function liveTerms(changes: ChallengeTerms = {}): ChallengeTerms {
  return {
    environment: 'test',
    name: 'Reach one hundred',
    fee: '1.00',
    prize: '5.00',
    metric_name: 'points',
    metric_unit: 'points',
    threshold_direction: 'higher_is_better',
    target_pass_rate: 0.2,
    integrity_tier: 2,
    daily_attempt_cap: 1000,
    status: 'live',
    threshold: 100,
    ...changes,
  };
}

/** The terms of a tournament whose rounds the operator opens, `changes` on top. */
export function tournamentTerms(changes: TournamentTerms = {}): TournamentTerms {
  return {
    environment: 'test',
    name: 'Friday cup',
    metric_name: 'points',
    metric_unit: 'points',
    threshold_direction: 'higher_is_better',
    entry_fee: '1.00',
    attempt_cap: 5,
    purse_table: [
      { rank: 1, amount: '5.00' },
      { rank: 2, amount: '3.00' },
      { rank: 3, amount: '2.00' },
    ],
    min_entrants: 1,
    ...changes,
  };
}

/** Terms of a tournament that declares a tiebreak: fewer moves are better. */
export const WITH_TIEBREAK: TournamentTerms = {
  tiebreak_metric_name: 'moves',
  tiebreak_direction: 'lower_is_better',
};

/** The instant this many minutes from now; in the past if negative. */
export function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

/** Asserts a status with the whole response in the message, and returns the response. */
export function expectStatus<Body>(status: number, answer: Answer<Body>): Answer<Body> {
  if (answer.status !== status) expect.fail(`expected ${status}, got ${answer.status}: ${answer.text.slice(0, 500)}`);
  return answer;
}

/** Asserts that the response is the whole board, as an entrant sees it, and returns it. */
export function fullBoard(answer: Answer<Leaderboard>): FullLeaderboard {
  const { body } = expectStatus(200, answer);
  return 'data' in body ? body : expect.fail(`expected the whole board, got ${answer.text.slice(0, 500)}`);
}

/** Asserts an error envelope's status and code. */
export function expectError(status: number, code: string, answer: Answer<unknown>): void {
  expect({ status: answer.status, code: answer.code }, answer.text.slice(0, 300)).toEqual({ status, code });
}

/**
 * Repeats `read` until it returns something, and throws at its deadline: for states that a worker
 * reaches on its own schedule. Reads use the cores that the worker needs, so they become rarer over
 * time.
 */
export async function eventually<T>(
  read: () => Promise<T | undefined>,
  what: string,
  deadlineMs = 20_000,
  shortestPauseMs = 10,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > deadlineMs) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(shortestPauseMs, waitedMs / 8), 100)));
  }
}

/**
 * Runs `work` with a new program inside one window of the rate limit. If the minute turned
 * meanwhile, runs it once more with another program: only a window that no other request uses can
 * be counted exactly.
 */
export async function insideOneWindow<T>(world: World, work: (program: Program) => Promise<T>): Promise<T> {
  for (;;) {
    const program = await world.newProgram();
    const minute = Math.floor(Date.now() / 60_000);
    const result = await work(program);
    if (Math.floor(Date.now() / 60_000) === minute) return result;
  }
}

/** Reads the audit until it is good, or until it has had enough time to become good. */
async function awaitAudit(operator: Operator): Promise<AuditBody> {
  let last: AuditBody | undefined;
  try {
    return await eventually(
      async () => {
        const answer = await operator.audit();
        // For a moment after a kill, the callers' breakers respond with a 500 for the service,
        // until they try it again.
        if (answer.status !== 200) return undefined;
        last = answer.body;
        return last.ok ? last : undefined;
      },
      'the audit is good',
      10_000,
    );
  } catch (error) {
    if (last === undefined) throw error;
    return last;
  }
}

/**
 * Tables that change even if a request has no effect: when a key was last used, how many requests a
 * minute had, how far a sweep is, when an audit is due; and the log of operator actions and that of
 * requests, which also contain refused ones.
 */
const VOLATILE =
  /^(request_windows|api_keys|sweep_marks|audit_(?:runs|passes|findings|sums)|program_days|environment_days|day_counts|operator_actions|operator_action_results|request_batches.*|request_counts|first_requests)$/;

/**
 * Events of prizes and refunds depend on the record of the wallet's decision, which is written
 * after the response; from then on an event is in the outbox until it is acknowledged. In this
 * order no event is missed between two reads.
 */
export const UNACKNOWLEDGED: readonly (readonly [Service, string])[] = [
  ['challenge', `select id from awards where status in ('paying', 'holding', 'releasing', 'denying')`],
  ['tournament', `select award_id as id from round_payouts where status in ('paying', 'releasing', 'denying')`],
  ['challenge', 'select attempt_id as id from refunds_due'],
  ['tournament', 'select attempt_id as id from refunds_due'],
  ['challenge', 'select event_id as id from outbox'],
  ['tournament', 'select event_id as id from outbox'],
];

/** Unfinished writes that services make after their responses. */
const UNWRITTEN: readonly (readonly [Service, string])[] = [
  ['gateway', `select id from idempotency_records where state = 'locked'`],
  ['challenge', `select id from attempts where status = 'pending'`],
  ['tournament', `select id from attempts where status = 'pending'`],
  ['challenge', 'select id from unmonitored_outcomes'],
  ...UNACKNOWLEDGED,
];

/** Deliveries to be sent. A delivery is due until the end of its send is recorded. */
const UNDELIVERED: readonly (readonly [Service, string])[] = [
  ...UNACKNOWLEDGED,
  ['webhook', `select id from deliveries where status = 'pending' and next_attempt_at <= clock_timestamp()`],
];

/** Waits until the rows that each query finds first are gone, whatever another file adds. */
async function untilGone(stack: JoinableStack, passing: readonly (readonly [Service, string])[]): Promise<void> {
  for (const [service, query] of passing) {
    const read = () => stack.database(service).query<{ id: unknown }>(query);
    const awaited = new Set((await read()).map(({ id }) => id));
    if (awaited.size === 0) continue;
    const areGone = async () => !(await read()).some(({ id }) => awaited.has(id)) || undefined;
    await eventually(areGone, `nothing was left of: ${service}: ${query}`);
  }
}

/**
 * One query for each service, which returns a digest of each of its tables. A stack's tables do not
 * change.
 */
const digestQueries = new WeakMap<JoinableStack, Promise<ReadonlyMap<Service, string>>>();

async function digest(stack: JoinableStack): Promise<Record<string, string>> {
  await untilGone(stack, UNWRITTEN);
  if (!digestQueries.has(stack)) digestQueries.set(stack, writeDigestQueries(stack));
  const queries = (await digestQueries.get(stack)) ?? new Map<Service, string>();
  const tables = await Promise.all(
    [...queries].map(async ([service, query]) => {
      const rows = await stack.database(service).query<{ name: string; digest: string }>(query);
      return rows.map(({ name, digest }) => [`${service}.${name}`, digest] as const);
    }),
  );
  return Object.fromEntries(tables.flat());
}

async function writeDigestQueries(stack: JoinableStack): Promise<ReadonlyMap<Service, string>> {
  const queries = new Map<Service, string>();
  for (const service of SERVICES) {
    const tables = await stack.database(service).query<{ name: string }>(
      `select table_name as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    );
    const selects = tables
      .filter(({ name }) => !VOLATILE.test(name))
      .map(
        ({ name }) => `select '${name}' as name,
           count(*) || ' ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest from "${name}" t`,
      );
    queries.set(service, selects.join(' union all '));
  }
  return queries;
}
