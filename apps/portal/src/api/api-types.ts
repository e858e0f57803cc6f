// Derived from docs/openapi/portal-api.yaml by `npm run sdk-types`. Do not edit.

/** Branch on this, never on the message. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'insufficient_funds'
  | 'blocked'
  | 'insider_entry'
  | 'forbidden'
  | 'not_found'
  | 'challenge_not_available'
  | 'challenge_already_claimed'
  | 'rung_locked'
  | 'attempt_cap_reached'
  | 'entries_closed'
  | 'round_closed'
  | 'attempt_already_settled'
  | 'idempotency_key_reused'
  | 'idempotency_in_progress'
  | 'conflict'
  | 'score_out_of_range'
  | 'tiebreak_required'
  | 'internal_error';

/** USD, a decimal string with two places: never a JSON number. */
export type Amount = string;

/** How Laurel reads the partner's payloads; at most 16 KiB. `{}` reads the canonical body. */
export type Descriptor = Record<string, unknown>;

/**
 * `duplicate`: the same report settled the attempt before. `ignored`: the descriptor leaves the record out.
 * `listened`: the score has no attempt and is kept for the calibration of its challenge.
 */
export type RecordStatus = 'settled' | 'duplicate' | 'ignored' | 'rejected' | 'listened';

/**
 * `push_webhook`: the partner gets a signing secret and posts outcomes. `pull_poll`: Laurel polls a URL of the
 * partner. `sdk_direct`: the partner calls `/v1`, and nothing needs to be configured.
 */
export type Transport = 'push_webhook' | 'pull_poll' | 'sdk_direct';

export type Credentials = {
  email: string;
  password: string;
};

export type DeliveryReference = {
  delivery_id: string;
};

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type DryRun = {
  records: Array<DryRunRecord>;
  /** Why no records could be read. */
  records_failure: PointerFailure | null;
  /** For `pull_poll`: how the next page would be requested. */
  next_page: Record<string, unknown> | null;
};

export type DryRunRecord = {
  index: number;
  status: 'read' | 'ignored' | 'failed';
  /** What would be reported: attempt, score, tiebreak, evidence, dedupe. */
  read: Record<string, unknown> | null;
  failure: PointerFailure | null;
};

export type DryRunRequest = {
  transport: Transport;
  descriptor: Descriptor;
  /**
   * A body as the partner would send it, or a page as it would be fetched; at most 239 KiB, since the body has the
   * descriptor too.
   */
  sample: unknown;
};

export type Environment = 'test' | 'live';

export type IntegrationLog = {
  data: Array<IntegrationLogEntry>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type IntegrationLogEntry = {
  id: string;
  kind: 'push' | 'poll';
  at: string;
  /** The first 1,000 characters. */
  body_excerpt: string;
  /** Why the whole failed. */
  error: string | null;
  records: Array<IntegrationLogRecord>;
};

export type IntegrationLogRecord = {
  index: number;
  attempt_id: string | null;
  status: RecordStatus;
  code: string | null;
  message: string | null;
};

/** Deliveries of the program's events that were created in the period, by their status now. */
export type OverviewDeliveries = {
  delivered: number;
  failed: number;
  pending: number;
  /**
   * Set if an endpoint has 10,000 deliveries or more in the period: of that endpoint only those from then on are
   * counted.
   */
  counted_from: string | null;
};

export type OverviewError = {
  code: string;
  count: number;
};

/** When each step was first done; null if it is not known to be. */
export type OverviewFirstSteps = {
  /** The first request with a key, as far as requests are logged. */
  key_used_at: string | null;
  player_linked_at: string | null;
  attempt_created_at: string | null;
  outcome_reported_at: string | null;
  /** When the oldest endpoint was registered that gets events of the program. */
  endpoint_created_at: string | null;
  /** When the first delivery was created that was delivered, as far as the delivery log goes. */
  webhook_delivered_at: string | null;
};

export type OverviewMoney = {
  /**
   * Fees charged, refunded ones included. Null if the program has more than 2,000 accounts, or 10,000 fees in the
   * period.
   */
  fees: Amount | null;
  /** What of these fees was returned. Null where `fees` is. */
  refunds: Amount | null;
  /** Payouts that were paid in the period. */
  paid: Amount;
  /** Payouts of the period that are held, among the newest 10,000 held ones of all programs. */
  held: Amount;
};

export type OverviewRequestBucket = {
  from: string;
  ok: number;
  errors_4xx: number;
  errors_5xx: number;
};

/** The requests to `/v1` with a key of the program, as far as they are logged. */
export type OverviewRequests = {
  total: number;
  errors_4xx: number;
  errors_5xx: number;
  /** The five most frequent codes. */
  top_errors: Array<OverviewError>;
  /** The period in equal parts, oldest first. */
  buckets: Array<OverviewRequestBucket>;
};

export type PointerFailure = {
  /** The JSON Pointer, for example `/run/points`. */
  pointer: string;
  /** Where it stands in the descriptor, for example `map.score`. */
  field: string;
  message: string;
};

export type Program = {
  id: string;
  name: string;
  status: ProgramStatus;
  deletion_scheduled: boolean;
  created_at: string;
  keys: Array<ProgramKey>;
};

export type ProgramKey = {
  environment: Environment;
  prefix: string;
  last4: string;
  created_at: string;
  last_used_at: string | null;
};

export type ProgramList = {
  data: Array<Program>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
};

export type ProgramOverview = {
  environment: Environment;
  hours: number;
  from: string;
  to: string;
  quick_start: OverviewFirstSteps;
  requests: OverviewRequests;
  money: OverviewMoney;
  deliveries: OverviewDeliveries;
};

export type ProgramStatus = 'draft' | 'approved' | 'suspended' | 'closed';

export type RequestDetails = {
  request_id: string;
  at: string;
  environment: Environment;
  method: string;
  /** With its query. */
  path: string;
  /** `unknown` if the path and the method have no route. */
  route: string;
  /** 499 if the caller disconnected before the response. */
  status: number;
  error_code: string | null;
  duration_ms: number;
  idempotency_key: string | null;
  /** Whether the response is that of an earlier request. */
  replayed: boolean;
  user_agent: string | null;
  /** The first 16 KiB, with "[redacted]" in the place of secrets and e-mails. */
  request_body: string | null;
  request_body_truncated: boolean;
  /** The first 16 KiB, with "[redacted]" in the place of secrets and e-mails. */
  response_body: string | null;
  response_body_truncated: boolean;
};

export type RequestLine = {
  request_id: string;
  at: string;
  environment: Environment;
  method: string;
  /** With its query. */
  path: string;
  /** `unknown` if the path and the method have no route. */
  route: string;
  /** 499 if the caller disconnected before the response. */
  status: number;
  error_code: string | null;
  duration_ms: number;
  idempotency_key: string | null;
  /** Whether the response is that of an earlier request. */
  replayed: boolean;
};

export type RequestList = {
  data: Array<RequestLine>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
  /** Send it as `after` for what is newer than this page. Null on a page that was read with `cursor`. */
  head_cursor: string | null;
};

export type ResendPeriod = {
  /** Deliveries created from then on */
  from: string;
  /** and before then. */
  to: string;
};

export type ResentDeliveries = {
  /** The number of new deliveries. */
  resent: number;
  /** Failed deliveries of the period may be left. */
  more: boolean;
  /** The `from` that continues; null if `more` is false. */
  resume_from: string | null;
};

export type SessionToken = {
  token: string;
};

export type SignedInDeveloper = {
  id: string;
  email: string;
  session_expires_at: string;
};

export type TestKey = {
  test_key: string;
};

export type WebhookDelivery = {
  id: string;
  event: WebhookEventType;
  status: DeliveryStatus;
  created_at: string;
  next_attempt_at: string | null;
  /** Every send, oldest first. */
  attempts: Array<WebhookSend>;
};

export type WebhookDeliveryDetail = WebhookDelivery & {
  endpoint_id: string;
  /** A resend has the id of the same event. */
  event_id: string;
  /** Null for `webhook.test`. */
  program_id: string | null;
  /** Null for `webhook.test`. */
  environment: Environment | null;
  /** The body of every send, as text: a signature is of its UTF-8 bytes. */
  body: string;
  /** The delivery that a developer sent again; otherwise null. */
  resend_of: string | null;
};

export type WebhookDeliveryList = {
  data: Array<WebhookDelivery>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
  /**
   * The `after` that gives the rows added from now on; on a page by `after`, those after its last row. Null on a page by
   * `cursor`.
   */
  head_cursor: string | null;
};

export type WebhookEndpoint = {
  id: string;
  url: string;
  /** An empty list subscribes to every event. */
  events: Array<WebhookEventType>;
  /** Null: the endpoint gets events of every program of the developer. */
  program_id: string | null;
  /** Null: both environments. */
  environment: Environment | null;
  description: string;
  active: boolean;
  created_at: string;
};

/** Members that are absent stay unchanged. At least one member is required. */
export type WebhookEndpointChange = {
  url?: string | undefined;
  events?: Array<WebhookEventType> | undefined;
  description?: string | undefined;
  active?: boolean | undefined;
};

export type WebhookEndpointList = {
  data: Array<WebhookEndpoint>;
};

export type WebhookEndpointRequest = {
  url: string;
  events?: Array<WebhookEventType> | undefined;
  program_id?: string | undefined;
  environment?: Environment | null | undefined;
  description?: string | null | undefined;
};

/** The deliveries created in the period, by their status now. */
export type WebhookEndpointStats = {
  hours: number;
  delivered: number;
  failed: number;
  pending: number;
  /** `delivered` of `delivered` and `failed`, from 0 to 1; null if both are 0. */
  success_rate: number | null;
  /** The median duration of the sends of the newest 10,000 deliveries; null if none has ended. */
  p50_ms: number | null;
  /** Their 95th percentile. */
  p95_ms: number | null;
  /** The newest delivery of the period that has failed. */
  last_failure: WebhookFailure | null;
  /**
   * Set if the period has more than 50,000 deliveries: only those created from then on are counted. Null: all are.
   */
  counted_from: string | null;
  /** Each is one hour up to 48 hours, six up to 168, else a day; oldest first. */
  buckets: Array<WebhookStatsBucket>;
};

export type WebhookEndpointWithSecret = WebhookEndpoint & {
  /** Only this response shows the secret. */
  signing_secret: string;
};

export type WebhookEventCatalogue = {
  data: Array<WebhookEventDescription>;
};

export type WebhookEventDescription = {
  event: WebhookEventType;
  summary: string;
  /** A whole body, as it is delivered. */
  sample: Record<string, unknown>;
};

export type WebhookEventType =
  | 'webhook.test'
  | 'attempt.settled'
  | 'attempt.refunded'
  | 'challenge.suspended'
  | 'round.settled'
  | 'round.cancelled'
  | 'award.released';

export type WebhookFailure = {
  /** When the last send began, or the endpoint was switched off. */
  at: string;
  delivery_id: string;
  http_status: number | null;
  error_kind: string | null;
};

export type WebhookSend = {
  number: number;
  started_at: string;
  duration_ms: number | null;
  phases: WebhookSendPhases;
  http_status: number | null;
  error_kind: string | null;
  error: string | null;
  response_excerpt: string | null;
};

/**
 * How long each part of the send took: resolving the name, connecting with TLS, waiting for the response, reading it.
 * A part that was not reached, or not needed, is null.
 */
export type WebhookSendPhases = {
  dns_ms: number | null;
  connect_ms: number | null;
  wait_ms: number | null;
  read_ms: number | null;
};

export type WebhookStatsBucket = {
  /** Its end is the beginning of the next one. */
  from: string;
  delivered: number;
  failed: number;
};
