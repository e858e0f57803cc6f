/**
 * "The first answer byte for byte, `Idempotency-Replayed: true`; nothing runs" (docs/contract/partner-api.md, "Idempotency"): the header that
 * marks the stored answer of an earlier request. No other answer has it.
 */
export const REPLAY_HEADER = 'Idempotency-Replayed';
export const REPLAYED: Readonly<Record<typeof REPLAY_HEADER, 'true'>> = { [REPLAY_HEADER]: 'true' };
