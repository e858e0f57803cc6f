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

export type ProgramStatus = 'draft' | 'approved' | 'suspended' | 'closed';

export type SessionToken = {
  token: string;
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

export type WebhookDeliveryList = {
  data: Array<WebhookDelivery>;
  /** The `cursor` of the next page; null on the last one. */
  next_cursor: string | null;
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

export type WebhookEndpointWithSecret = WebhookEndpoint & {
  /** Only this response shows the secret. */
  signing_secret: string;
};

export type WebhookEventType =
  | 'webhook.test'
  | 'attempt.settled'
  | 'attempt.refunded'
  | 'challenge.suspended'
  | 'round.settled'
  | 'round.cancelled'
  | 'award.released';

export type WebhookSend = {
  number: number;
  started_at: string;
  duration_ms: number | null;
  http_status: number | null;
  error_kind: string | null;
  error: string | null;
  response_excerpt: string | null;
};
