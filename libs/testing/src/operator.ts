import type { Attempt, Challenge, ChallengeStatus, Distribution, PurseRow, Round, Tournament } from '@laurel/sdk';
import type { Answer, HttpClient, SendOptions } from './http-client.ts';

// --- bodies that the partner API does not have ---

/** The fields that only the operator sees. */
export interface OperatorTournamentBody extends Tournament {
  program_id: string;
  environment: string;
  tiebreak_metric_name: string | null;
  tiebreak_direction: string | null;
  purse_amount: string;
  purse_table: PurseRow[];
  min_entrants: number;
  min_scored_attempts: number;
  round_length_seconds: number | null;
}

/** A round with the fields that only operators see. */
export interface OperatorRoundBody extends Round {
  program_id: string;
  environment: string;
  cancellation: { cancelled_at: string; operator: string; reason: string } | null;
}

export interface ProgramBody {
  id: string;
  name: string;
  status: string;
  /** Only operators see the developer. */
  developer_id?: string | null;
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
  fee_limit: string | null;
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
  decision: { decision: 'released' | 'denied'; at: string; operator: string; reason: string | null } | null;
}

export interface ReceiptBody {
  receipt: Record<string, unknown>;
  signature: string;
  public_key: string;
  /** The seal of a settled round, which proves that the receipt was counted. */
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
  seeded: (Distribution & { sample_size: number }) | null;
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
  status: ChallengeStatus;
  started_at: string | null;
  claimed: { low: number; high: number };
  log_limit: number;
  attempts_before_judging: number;
  readings: (DriftEvidenceBody & { read_at: string })[];
  changes: {
    changed_at: string;
    from: ChallengeStatus;
    to: ChallengeStatus;
    cause: 'calibrated' | 'seeded' | 'drift' | 'ramp' | 'operator';
    note: string | null;
    evidence: DriftEvidenceBody | null;
  }[];
}

export interface AuditBody {
  ok: boolean;
  live_ok: boolean;
  checks: {
    id: string;
    description: string;
    violations: number;
    violations_by_environment: { live: number; test: number };
  }[];
}

// --- an operator ---

/** The terms of a challenge, the body of `POST /api/operator/programs/{id}/challenges`. */
export type ChallengeTerms = Record<string, unknown>;

/** The terms of a tournament, the body of `POST /api/operator/programs/{id}/tournaments`. */
export type TournamentTerms = Record<string, unknown>;

export interface Operator {
  send<Body = unknown>(method: string, path: string, options?: SendOptions): Promise<Answer<Body>>;
  /**
   * Opens a session, and returns the response with the session's cookie. Every other call sends the
   * operator's token in a header instead.
   */
  signIn(): Promise<Answer<{ name: string; session_expires_at: string }>>;
  createDeveloper(credentials: { email: string; password: string }): Promise<Answer<{ id: string; email: string }>>;
  /** Creates a program, which belongs to the developer `developerId` if one is named. */
  createProgram(name: string, developerId?: string): Promise<Answer<ProgramBody & { test_key: string }>>;
  approveProgram(programId: string): Promise<Answer<ProgramBody & { live_key: string }>>;
  replaceLiveKey(programId: string): Promise<Answer<{ live_key: string }>>;
  updateProgram(programId: string, changes: object): Promise<Answer<ProgramBody>>;
  addInsider(programId: string, accountId: string): Promise<Answer<unknown>>;
  createAccount(account: object): Promise<Answer<AccountBody>>;
  updateAccount(accountId: string, changes: object): Promise<Answer<AccountBody>>;
  deposit(
    accountId: string,
    deposit: { environment: string; amount: string; reference: string; attempt_id?: string },
  ): Promise<Answer<{ balance: string; posted_before: boolean }>>;
  statement(accountId: string, environment: string): Promise<Answer<StatementBody>>;
  playerLinks(accountId: string): Promise<Answer<PlayerLinksBody>>;
  severPlayerLinks(accountId: string, programId: string): Promise<Answer<undefined>>;
  liftSeverance(accountId: string, programId: string): Promise<Answer<undefined>>;
  createChallenge(programId: string, terms: ChallengeTerms): Promise<Answer<Challenge>>;
  getChallenge(challengeId: string): Promise<Answer<Challenge>>;
  updateChallenge(challengeId: string, changes: { status: string; note?: string }): Promise<Answer<Challenge>>;
  getCalibration(challengeId: string): Promise<Answer<CalibrationBody>>;
  getDrift(challengeId: string): Promise<Answer<DriftBody>>;
  createTournament(programId: string, terms: TournamentTerms): Promise<Answer<OperatorTournamentBody>>;
  updateTournament(tournamentId: string, changes: { status: string }): Promise<Answer<OperatorTournamentBody>>;
  openRound(tournamentId: string, times: { opens_at?: string | null; closes_at: string }): Promise<Answer<Round>>;
  cancelRound(roundId: string, reason: string): Promise<Answer<OperatorRoundBody>>;
  listPayouts(status?: string): Promise<Answer<{ data: PayoutBody[] }>>;
  getPayout(awardId: string): Promise<Answer<PayoutBody>>;
  releasePayout(awardId: string, reason?: string): Promise<Answer<PayoutBody>>;
  denyPayout(awardId: string, reason?: string): Promise<Answer<PayoutBody>>;
  voidAttempt(attemptId: string, reason: string): Promise<Answer<Attempt>>;
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
    signIn: () => http.send('POST', '/api/operator/session', { body: { token: operatorToken } }),
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
    cancelRound: (roundId, reason) => send('POST', `/rounds/${roundId}/cancel`, { body: { reason } }),
    listPayouts: (status) => send('GET', `/payouts${status === undefined ? '' : `?status=${status}`}`),
    getPayout: (awardId) => send('GET', `/payouts/${awardId}`),
    releasePayout: (awardId, reason) =>
      send('POST', `/payouts/${awardId}/release`, { body: { ...(reason !== undefined && { reason }) } }),
    denyPayout: (awardId, reason = 'against the rules') =>
      send('POST', `/payouts/${awardId}/deny`, { body: { reason } }),
    voidAttempt: (attemptId, reason) => send('POST', `/attempts/${attemptId}/void`, { body: { reason } }),
    getReceipt: (receiptId) => send('GET', `/receipts/${receiptId}`),
    audit: () => send('GET', '/audit'),
  };
}
