/**
 * The header that marks the stored response to an earlier request; no other response has this
 * header. "The first answer byte for byte, `Idempotency-Replayed: true`; nothing runs"
 * (docs/contract/partner-api.md, "Idempotency").
 */
export const REPLAY_HEADER = 'Idempotency-Replayed';
export const REPLAY_HEADERS: Readonly<Record<typeof REPLAY_HEADER, 'true'>> = { [REPLAY_HEADER]: 'true' };
