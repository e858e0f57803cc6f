import { randomUUID } from 'node:crypto';
import { parseJson } from '@laurel/json';
import { Agent, request } from 'undici';

/** One response as received; status 0 means that the connection ended without one. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body byte for byte. */
  readonly text: string;
  /** The parsed body of the answer that the caller expects; check `status` first. */
  readonly body: Body;
  /** The code of the error envelope (or of the flat body of the retired route), if this is one. */
  readonly code: string | undefined;
}

/** One request of a client with its response. */
export interface JournalEntry {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | undefined;
  readonly sent: string | undefined;
  readonly answer: Answer<unknown>;
}

export interface HttpClientOptions {
  /** `http://127.0.0.1:8080`, or several, used in turn. */
  readonly baseUrl: string | readonly string[];
  /** Called with every entry before the caller gets its answer; a throw reaches the caller. */
  readonly onAnswer?: (entry: JournalEntry) => void | Promise<void>;
  readonly connections?: number;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string | Buffer;
}

export interface HttpClient extends AsyncDisposable {
  /** All requests so far, in the order of their responses. */
  readonly journal: readonly JournalEntry[];
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
}

/** The one HTTP client under operator and partner: it sends, records and reports; it never retries. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const baseUrls = typeof options.baseUrl === 'string' ? [options.baseUrl] : options.baseUrl;
  const agent = new Agent({ connections: options.connections ?? 64, keepAliveTimeout: 4_000, headersTimeout: 90_000 });
  const journal: JournalEntry[] = [];
  let turn = 0;
  return {
    journal,
    async send<Body>(method: string, path: string, sendOptions: SendOptions = {}): Promise<Answer<Body>> {
      const baseUrl = baseUrls[turn++ % baseUrls.length] ?? '';
      const sent = sendOptions.raw ?? (sendOptions.body === undefined ? undefined : JSON.stringify(sendOptions.body));
      const headers: Record<string, string> = {
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...sendOptions.headers,
      };
      const answer = await sendRequest<Body>(agent, baseUrl + path, method, headers, sent);
      const entry: JournalEntry = {
        method,
        path,
        headers,
        idempotencyKey: headers['idempotency-key'],
        sent: sent?.toString(),
        answer,
      };
      journal.push(entry);
      await options.onAnswer?.(entry);
      return answer;
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

async function sendRequest<Body>(
  agent: Agent,
  url: string,
  method: string,
  headers: Record<string, string>,
  sent: string | Buffer | undefined,
): Promise<Answer<Body>> {
  try {
    const response = await request(url, { dispatcher: agent, method, headers, body: sent ?? null });
    const text = await response.body.text();
    const flat: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) flat[name] = String(value);
    const body = parse(text);
    return { status: response.statusCode, headers: flat, text, body: body as Body, code: codeOf(body) };
  } catch (error) {
    if (!isLost(error)) throw error;
    return { status: 0, headers: {}, text: '', body: undefined as Body, code: undefined };
  }
}

/** The peer was away, or went away before it answered. */
function isLost(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? '';
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code);
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function codeOf(body: unknown): string | undefined {
  const { error, code } = (body ?? {}) as { error?: { code?: string } | string; code?: string };
  return typeof error === 'object' ? error.code : code;
}

// --- bodies, as the contract names their fields ---

export interface AttemptBody {
  id: string;
  challenge_id: string | null;
  tournament_round_id: string | null;
  player_ref: string;
  status: 'open' | 'settled' | 'expired' | 'voided';
  fee_charged: string;
  created_at: string;
  metadata: Record<string, unknown>;
  outcome: OutcomeBody | null;
}

export interface OutcomeBody {
  attempt_id: string;
  score: number;
  met_threshold: boolean;
  threshold_applied: number | null;
  recorded_at: string;
  receipt_id: string;
  award: AwardBody | null;
}

export interface AwardBody {
  id: string;
  amount: string;
  paid_at: string | null;
  payout_status?: 'paid' | 'held';
}

export interface ChallengeBody {
  id: string;
  name: string;
  description: string | null;
  fee: string;
  prize: string;
  currency: string;
  status: 'calibrating' | 'live' | 'suspended' | 'closed';
  prize_structure: 'threshold' | 'top_n';
  threshold: number | null;
  min_calibration_n: number;
  calibration_source: string;
  metric_name: string;
  metric_unit: string;
  rung: number;
  parent_challenge_id: string | null;
  ramp?: { active: true; fullPrize: string; attemptsSeen: number; attemptsRequired: number };
  calibration?: { collected: number; required: number; playersCollected: number; playersRequired: number };
}

export interface SeededChallengeBody {
  challenge_id: string;
  threshold: number;
  target_pass_rate: number;
  sample_size: number;
  calibration_source: 'partner_seeded';
  provisional: true;
  note: string;
}

export interface TournamentBody {
  id: string;
  name: string;
  description: string | null;
  metric_name: string;
  metric_unit: string;
  threshold_direction: 'higher_is_better' | 'lower_is_better';
  entry_fee: string;
  attempt_cap: number;
  status: 'active' | 'paused' | 'closed';
  created_at: string;
  current_round: RoundBody | null;
}

/** The fields that only the operator sees. */
export interface OperatorTournamentBody extends TournamentBody {
  program_id: string;
  environment: string;
  tiebreak_metric_name: string | null;
  tiebreak_direction: string | null;
  purse_amount: string;
  purse_table: PurseRowBody[];
  min_entrants: number;
  min_scored_attempts: number;
  round_length_seconds: number | null;
}

export interface PurseRowBody {
  rank: number;
  amount: string;
}

export interface RoundBody {
  id: string;
  tournament_id: string;
  tournament_name: string | null;
  status: 'open' | 'settling' | 'settled' | 'cancelled';
  opens_at: string;
  closes_at: string;
  entries_close_at: string;
  settled_at: string | null;
  entry_fee: string;
  funding: 'house';
  purse_amount: string;
  purse_table: PurseRowBody[];
  pool_amount: string;
  rollover_in: string;
  entrant_count: number;
  attempt_cap: number;
  min_entrants: number;
  min_scored_attempts: number;
}

export interface LeaderboardRowBody {
  rank: number;
  player_ref: string;
  best_score: number;
  best_tiebreak: number | null;
  best_score_at: string;
  paid_attempts: number;
  final_rank: number | null;
  payout_amount: string | null;
  payout_status: 'none' | 'paid' | 'held' | 'refunded';
}

/** The full shape has `data`, the masked one `locked` and the fields below it. */
export interface LeaderboardBody {
  round: RoundBody;
  scored_players: number;
  data?: LeaderboardRowBody[];
  locked?: true;
  reason?: 'enter_to_see';
  entrant_count?: number;
}

export interface PlayerLinkBody {
  player_ref: string;
  linked: true;
  created_at: string;
}

export interface ProgramBody {
  id: string;
  name: string;
  status: string;
  deletion_scheduled: boolean;
  created_at: string;
  keys: { environment: string; prefix: string; last4: string; created_at: string; last_used_at: string | null }[];
}

export interface AccountBody {
  id: string;
  email: string;
  date_of_birth: string;
  jurisdiction: string;
  verification_level: number;
  self_excluded_until: string | null;
  enforcement_flag: boolean;
  under_investigation: boolean;
  blocked: boolean;
  sandbox_only: boolean;
  program_id: string | null;
}

export interface PlayerLinksBody {
  data: { program_id: string; environment: string; player_ref: string; created_at: string }[];
  severed: { program_id: string; severed_at: string }[];
}

export interface StatementBody {
  balance: string;
  data: { id: string; kind: string; amount: string; balance_after: string; reference: string; created_at: string }[];
}

export interface PayoutBody {
  award_id: string;
  attempt_id: string | null;
  round_id: string | null;
  account_id: string;
  amount: string;
  status: string;
  reason: string;
  created_at: string;
}

export interface ReceiptBody {
  receipt: Record<string, unknown>;
  signature: string;
  public_key: string;
  /** Of a settled round: that the receipt was counted in it. */
  seal?: SealBody;
}

export interface SealBody {
  statement: Record<string, unknown> & { leaves: number; root: string };
  signature: string;
  public_key: string;
  leaf: Record<string, unknown> & { best: boolean; final_rank: number; payout_amount: string };
  leaf_index: number;
  proof: string[];
}

/** `/.well-known/laurel-keys.json`. */
export interface KeyListBody {
  keys: { key_id: string; algorithm: string; public_key: string; from: string; until: string | null }[];
}

export interface CalibrationBody {
  challenge_id: string;
  samples: number;
  players: number;
  fair_share: number;
  required: { samples: number; players: number };
  quantiles: { share: number; score: number }[];
  histogram: { from: number; to: number; samples: number }[];
  bar: number | null;
  bar_interval: { low: number; high: number } | null;
  seeded: (PercentilesBody & { sample_size: number }) | null;
}

export interface DriftEvidenceBody {
  attempts: number;
  passes: number;
  pass_rate: number | null;
  log_ratio_above: number;
  log_ratio_below: number;
}

export interface DriftBody extends DriftEvidenceBody {
  challenge_id: string;
  status: ChallengeBody['status'];
  started_at: string | null;
  claimed: { low: number; high: number };
  log_limit: number;
  attempts_before_judging: number;
  readings: (DriftEvidenceBody & { read_at: string })[];
  changes: {
    changed_at: string;
    from: ChallengeBody['status'];
    to: ChallengeBody['status'];
    cause: 'calibrated' | 'seeded' | 'drift' | 'ramp' | 'operator';
    note: string | null;
    evidence: DriftEvidenceBody | null;
  }[];
}

export interface AuditBody {
  ok: boolean;
  checks: { id: string; description: string; violations: number }[];
}

// --- a partner's server ---

/** The percentiles of a distribution. */
export interface PercentilesBody {
  p5: number;
  p25: number;
  p50: number;
  p75: number;
  p95: number;
}

/** The body of `POST /v1/challenges/{id}/distribution`. */
export interface DistributionEntry {
  distribution: PercentilesBody;
  sample_size: number;
}

/** The body of `POST /v1/attempts`: one parent, and the player. */
export type AttemptEntry = ({ challenge_id: string } | { tournament_round_id: string }) & {
  player_ref: string;
  metadata?: object;
};

export interface Partner {
  readonly apiKey: string;
  /** Sends any request with this partner's key. */
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
  listChallenges(playerRef: string, status?: string): Promise<Answer<{ data: ChallengeBody[] }>>;
  seedChallenge(challengeId: string, body: DistributionEntry, key?: string): Promise<Answer<SeededChallengeBody>>;
  linkPlayer(playerRef: string, email: string): Promise<Answer<PlayerLinkBody>>;
  /** `key` is the `Idempotency-Key`; a fresh one unless given. */
  createAttempt(body: AttemptEntry, key?: string): Promise<Answer<AttemptBody>>;
  reportOutcome(
    attemptId: string,
    body: { score: number; tiebreak?: number; evidence?: object },
    key?: string,
  ): Promise<Answer<OutcomeBody>>;
  getAttempt(attemptId: string): Promise<Answer<AttemptBody>>;
  listTournaments(status?: string): Promise<Answer<{ data: TournamentBody[] }>>;
  getLeaderboard(roundId: string, playerRef?: string): Promise<Answer<LeaderboardBody>>;
  /** Sandbox: creates, links and funds a player, with these facts. */
  createPlayer(playerRef: string, funds?: string, facts?: object): Promise<Answer<PlayerLinkBody>>;
  holdNextAward(playerRef: string): Promise<Answer<undefined>>;
  expireAttempt(attemptId: string): Promise<Answer<AttemptBody>>;
  /** Sandbox: closes the entries of a round, as at `entries_close_at`. */
  closeEntries(roundId: string): Promise<Answer<RoundBody>>;
  /** Sandbox: closes a round, as at `closes_at`; settled or cancelled. */
  closeRound(roundId: string): Promise<Answer<RoundBody>>;
  /** Sandbox: runs the next scheduled retry of a webhook delivery immediately. */
  retryNow(deliveryId: string): Promise<Answer<{ delivery_id: string }>>;
}

export function createPartner(http: HttpClient, apiKey: string): Partner {
  const send: Partner['send'] = (method, path, options = {}) =>
    http.send(method, path, { ...options, headers: { 'x-api-key': apiKey, ...options.headers } });
  return {
    apiKey,
    send,
    listChallenges: (playerRef, status) =>
      send('GET', `/v1/challenges?${new URLSearchParams({ player_ref: playerRef, ...(status && { status }) })}`),
    seedChallenge: (challengeId, body, key = randomUUID()) =>
      send('POST', `/v1/challenges/${challengeId}/distribution`, { body, headers: { 'idempotency-key': key } }),
    linkPlayer: (playerRef, email) => send('POST', '/v1/players', { body: { player_ref: playerRef, email } }),
    createAttempt: (body, key = randomUUID()) =>
      send('POST', '/v1/attempts', { body, headers: { 'idempotency-key': key } }),
    reportOutcome: (attemptId, body, key = randomUUID()) =>
      send('POST', `/v1/attempts/${attemptId}/outcome`, { body, headers: { 'idempotency-key': key } }),
    getAttempt: (attemptId) => send('GET', `/v1/attempts/${attemptId}`),
    listTournaments: (status) => send('GET', `/v1/tournaments${status === undefined ? '' : `?status=${status}`}`),
    getLeaderboard: (roundId, playerRef) => {
      const query = playerRef === undefined ? '' : `?${new URLSearchParams({ player_ref: playerRef })}`;
      return send('GET', `/v1/tournaments/rounds/${roundId}/leaderboard${query}`);
    },
    createPlayer: (playerRef, funds, facts) =>
      send('POST', '/api/sandbox/players', { body: { player_ref: playerRef, ...(funds && { funds }), ...facts } }),
    holdNextAward: (playerRef) => send('POST', `/api/sandbox/players/${encodeURIComponent(playerRef)}/hold-next-award`),
    expireAttempt: (attemptId) => send('POST', `/api/sandbox/attempts/${attemptId}/expire`),
    closeEntries: (roundId) => send('POST', `/api/sandbox/rounds/${roundId}/close-entries`),
    closeRound: (roundId) => send('POST', `/api/sandbox/rounds/${roundId}/close`),
    retryNow: (deliveryId) => send('POST', `/api/sandbox/webhook-deliveries/${deliveryId}/retry-now`),
  };
}

// --- an operator ---

/** The terms of a challenge, the body of `POST /api/operator/programs/{id}/challenges`. */
export type ChallengeTerms = Record<string, unknown>;

/** The terms of a tournament, the body of `POST /api/operator/programs/{id}/tournaments`. */
export type TournamentTerms = Record<string, unknown>;

export interface Operator {
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
  createDeveloper(credentials: { email: string; password: string }): Promise<Answer<{ id: string; email: string }>>;
  /** With `developerId` it is that developer's. */
  createProgram(name: string, developerId?: string): Promise<Answer<ProgramBody & { test_key: string }>>;
  approveProgram(programId: string): Promise<Answer<ProgramBody & { live_key: string }>>;
  replaceLiveKey(programId: string): Promise<Answer<{ live_key: string }>>;
  updateProgram(programId: string, changes: object): Promise<Answer<ProgramBody>>;
  addInsider(programId: string, accountId: string): Promise<Answer<unknown>>;
  createAccount(account: object): Promise<Answer<AccountBody>>;
  updateAccount(accountId: string, changes: object): Promise<Answer<AccountBody>>;
  deposit(
    accountId: string,
    deposit: { environment: string; amount: string; reference: string },
  ): Promise<Answer<{ balance: string }>>;
  statement(accountId: string, environment: string): Promise<Answer<StatementBody>>;
  playerLinks(accountId: string): Promise<Answer<PlayerLinksBody>>;
  severPlayerLinks(accountId: string, programId: string): Promise<Answer<undefined>>;
  liftSeverance(accountId: string, programId: string): Promise<Answer<undefined>>;
  createChallenge(programId: string, terms: ChallengeTerms): Promise<Answer<ChallengeBody>>;
  getChallenge(challengeId: string): Promise<Answer<ChallengeBody>>;
  updateChallenge(challengeId: string, changes: { status: string; note?: string }): Promise<Answer<ChallengeBody>>;
  getCalibration(challengeId: string): Promise<Answer<CalibrationBody>>;
  getDrift(challengeId: string): Promise<Answer<DriftBody>>;
  createTournament(programId: string, terms: TournamentTerms): Promise<Answer<OperatorTournamentBody>>;
  updateTournament(tournamentId: string, changes: { status: string }): Promise<Answer<OperatorTournamentBody>>;
  openRound(tournamentId: string, times: { opens_at?: string | null; closes_at: string }): Promise<Answer<RoundBody>>;
  listPayouts(status?: string): Promise<Answer<{ data: PayoutBody[] }>>;
  releasePayout(awardId: string): Promise<Answer<PayoutBody>>;
  denyPayout(awardId: string): Promise<Answer<PayoutBody>>;
  voidAttempt(attemptId: string, reason: string): Promise<Answer<AttemptBody>>;
  getReceipt(receiptId: string): Promise<Answer<ReceiptBody>>;
  audit(): Promise<Answer<AuditBody>>;
}

export function createOperator(http: HttpClient, operatorToken: string): Operator {
  const send: Operator['send'] = (method, path, options = {}) =>
    http.send(method, `/api/operator${path}`, {
      ...options,
      headers: { authorization: `Bearer ${operatorToken}`, ...options.headers },
    });
  return {
    send,
    createDeveloper: (credentials) => send('POST', '/developers', { body: credentials }),
    createProgram: (name, developerId) =>
      send('POST', '/programs', { body: { name, ...(developerId !== undefined && { developer_id: developerId }) } }),
    approveProgram: (programId) => send('POST', `/programs/${programId}/approve`),
    replaceLiveKey: (programId) => send('POST', `/programs/${programId}/live-key`),
    updateProgram: (programId, changes) => send('PATCH', `/programs/${programId}`, { body: changes }),
    addInsider: (programId, accountId) =>
      send('POST', `/programs/${programId}/insiders`, { body: { account_id: accountId } }),
    createAccount: (account) => send('POST', '/accounts', { body: account }),
    updateAccount: (accountId, changes) => send('PATCH', `/accounts/${accountId}`, { body: changes }),
    deposit: (accountId, deposit) => send('POST', `/accounts/${accountId}/deposits`, { body: deposit }),
    statement: (accountId, environment) => send('GET', `/accounts/${accountId}/statement?environment=${environment}`),
    playerLinks: (accountId) => send('GET', `/accounts/${accountId}/player-links`),
    severPlayerLinks: (accountId, programId) => send('DELETE', `/accounts/${accountId}/player-links/${programId}`),
    liftSeverance: (accountId, programId) => send('POST', `/accounts/${accountId}/player-links/${programId}/lift`),
    createChallenge: (programId, terms) => send('POST', `/programs/${programId}/challenges`, { body: terms }),
    getChallenge: (challengeId) => send('GET', `/challenges/${challengeId}`),
    updateChallenge: (challengeId, changes) => send('PATCH', `/challenges/${challengeId}`, { body: changes }),
    getCalibration: (challengeId) => send('GET', `/challenges/${challengeId}/calibration`),
    getDrift: (challengeId) => send('GET', `/challenges/${challengeId}/drift`),
    createTournament: (programId, terms) => send('POST', `/programs/${programId}/tournaments`, { body: terms }),
    updateTournament: (tournamentId, changes) => send('PATCH', `/tournaments/${tournamentId}`, { body: changes }),
    openRound: (tournamentId, times) => send('POST', `/tournaments/${tournamentId}/rounds`, { body: times }),
    listPayouts: (status) => send('GET', `/payouts${status === undefined ? '' : `?status=${status}`}`),
    releasePayout: (awardId) => send('POST', `/payouts/${awardId}/release`),
    denyPayout: (awardId) => send('POST', `/payouts/${awardId}/deny`),
    voidAttempt: (attemptId, reason) => send('POST', `/attempts/${attemptId}/void`, { body: { reason } }),
    getReceipt: (receiptId) => send('GET', `/receipts/${receiptId}`),
    audit: () => send('GET', '/audit'),
  };
}
