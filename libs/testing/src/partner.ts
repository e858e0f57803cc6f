import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';

/** One answer as it came over the wire; status 0 means that the connection ended without one. */
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

/** What a client asked and what it was told. */
export interface JournalEntry {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | undefined;
  readonly sent: string | undefined;
  readonly answer: Answer<unknown>;
}

export interface HttpClientOptions {
  /** `http://127.0.0.1:8080`, or several that take turns. */
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
  /** Everything asked so far, in the order of the answers. */
  readonly journal: readonly JournalEntry[];
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
}

/** The one HTTP client under operator and partner: it sends, remembers and reports; it never retries. */
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
      const answer = await exchange<Body>(agent, baseUrl + path, method, headers, sent);
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

async function exchange<Body>(
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
    return JSON.parse(text);
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
  ramp?: object;
  calibration?: { collected: number; required: number; playersCollected: number; playersRequired: number };
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
}

export interface AuditBody {
  ok: boolean;
  checks: { id: string; description: string; violations: number }[];
}

// --- a partner's server ---

export interface Partner {
  readonly apiKey: string;
  /** Any request with this partner's key. */
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
  listChallenges(playerRef: string, status?: string): Promise<Answer<{ data: ChallengeBody[] }>>;
  linkPlayer(playerRef: string, email: string): Promise<Answer<PlayerLinkBody>>;
  /** `key` is the `Idempotency-Key`; a fresh one unless given. */
  createAttempt(
    body: { challenge_id: string; player_ref: string; metadata?: object },
    key?: string,
  ): Promise<Answer<AttemptBody>>;
  reportOutcome(
    attemptId: string,
    body: { score: number; evidence?: object },
    key?: string,
  ): Promise<Answer<OutcomeBody>>;
  getAttempt(attemptId: string): Promise<Answer<AttemptBody>>;
  /** Sandbox: makes, links and funds a player. */
  createPlayer(playerRef: string, funds?: string): Promise<Answer<PlayerLinkBody>>;
  holdNextAward(playerRef: string): Promise<Answer<undefined>>;
  expireAttempt(attemptId: string): Promise<Answer<AttemptBody>>;
}

export function createPartner(http: HttpClient, apiKey: string): Partner {
  const send: Partner['send'] = (method, path, options = {}) =>
    http.send(method, path, { ...options, headers: { 'x-api-key': apiKey, ...options.headers } });
  return {
    apiKey,
    send,
    listChallenges: (playerRef, status) =>
      send('GET', `/v1/challenges?${new URLSearchParams({ player_ref: playerRef, ...(status && { status }) })}`),
    linkPlayer: (playerRef, email) => send('POST', '/v1/players', { body: { player_ref: playerRef, email } }),
    createAttempt: (body, key = randomUUID()) =>
      send('POST', '/v1/attempts', { body, headers: { 'idempotency-key': key } }),
    reportOutcome: (attemptId, body, key = randomUUID()) =>
      send('POST', `/v1/attempts/${attemptId}/outcome`, { body, headers: { 'idempotency-key': key } }),
    getAttempt: (attemptId) => send('GET', `/v1/attempts/${attemptId}`),
    createPlayer: (playerRef, funds) =>
      send('POST', '/api/sandbox/players', { body: { player_ref: playerRef, ...(funds && { funds }) } }),
    holdNextAward: (playerRef) => send('POST', `/api/sandbox/players/${encodeURIComponent(playerRef)}/hold-next-award`),
    expireAttempt: (attemptId) => send('POST', `/api/sandbox/attempts/${attemptId}/expire`),
  };
}

// --- an operator ---

/** The terms of a challenge, as `POST /api/operator/programs/{id}/challenges` takes them. */
export type ChallengeTerms = Record<string, unknown>;

export interface Operator {
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
  createProgram(name: string): Promise<Answer<ProgramBody & { test_key: string }>>;
  approveProgram(programId: string): Promise<Answer<ProgramBody & { live_key: string }>>;
  updateProgram(programId: string, changes: object): Promise<Answer<ProgramBody>>;
  createAccount(account: object): Promise<Answer<AccountBody>>;
  updateAccount(accountId: string, changes: object): Promise<Answer<AccountBody>>;
  deposit(
    accountId: string,
    deposit: { environment: string; amount: string; reference: string },
  ): Promise<Answer<{ balance: string }>>;
  statement(accountId: string, environment: string): Promise<Answer<StatementBody>>;
  createChallenge(programId: string, terms: ChallengeTerms): Promise<Answer<ChallengeBody>>;
  getChallenge(challengeId: string): Promise<Answer<ChallengeBody>>;
  updateChallenge(challengeId: string, changes: { status: string }): Promise<Answer<ChallengeBody>>;
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
    createProgram: (name) => send('POST', '/programs', { body: { name } }),
    approveProgram: (programId) => send('POST', `/programs/${programId}/approve`),
    updateProgram: (programId, changes) => send('PATCH', `/programs/${programId}`, { body: changes }),
    createAccount: (account) => send('POST', '/accounts', { body: account }),
    updateAccount: (accountId, changes) => send('PATCH', `/accounts/${accountId}`, { body: changes }),
    deposit: (accountId, deposit) => send('POST', `/accounts/${accountId}/deposits`, { body: deposit }),
    statement: (accountId, environment) => send('GET', `/accounts/${accountId}/statement?environment=${environment}`),
    createChallenge: (programId, terms) => send('POST', `/programs/${programId}/challenges`, { body: terms }),
    getChallenge: (challengeId) => send('GET', `/challenges/${challengeId}`),
    updateChallenge: (challengeId, changes) => send('PATCH', `/challenges/${challengeId}`, { body: changes }),
    listPayouts: (status) => send('GET', `/payouts${status === undefined ? '' : `?status=${status}`}`),
    releasePayout: (awardId) => send('POST', `/payouts/${awardId}/release`),
    denyPayout: (awardId) => send('POST', `/payouts/${awardId}/deny`),
    voidAttempt: (attemptId, reason) => send('POST', `/attempts/${attemptId}/void`, { body: { reason } }),
    getReceipt: (receiptId) => send('GET', `/receipts/${receiptId}`),
    audit: () => send('GET', '/audit'),
  };
}
