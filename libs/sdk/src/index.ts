/** Laurel's server SDK. */

export { listedKeys, pinnedKey, type TrustedKey } from './receipts/trusted-keys.ts';
export { type ReceiptVerdict, verifyReceipt } from './receipts/verify-receipt.ts';
export type {
  AttemptRefunded,
  AttemptSettled,
  AwardReleased,
  ChallengeSuspended,
  EventAward,
  RoundCancelled,
  RoundSettled,
  WebhookEvent,
  WebhookTest,
} from './webhook-events.ts';
export { type RawBody, signIntegrationBody, signWebhook } from './webhook-signature.ts';
export {
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookRequest,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from './webhooks.ts';
