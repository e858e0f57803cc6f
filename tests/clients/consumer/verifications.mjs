// What a partner verifies without Laurel, on any runtime: a webhook and a receipt, unchanged and
// changed.
import { listedKeys, signWebhook, verifyReceipt, verifyWebhook, WebhookVerificationError } from '@laurel/sdk';

const SECRET = `whsec_${'0123456789abcdef'.repeat(4)}`;
const BODY = '{"event":"webhook.test","timestamp":"2026-01-31T12:00:00.000Z","data":{"message":"Grüße"}}';

export async function verify({ receipt, keyList }) {
  const headers = { 'X-Webhook-Signature': await signWebhook(BODY, SECRET) };
  const eventOf = (body) =>
    verifyWebhook({ body, headers, secrets: [SECRET] }).then(
      ({ event }) => event.event,
      (error) => error instanceof WebhookVerificationError && error.reason,
    );
  const keys = await listedKeys(keyList);
  const verdictOn = async (answer) => (await verifyReceipt(answer, keys)).kind;
  const changed = { ...receipt, receipt: { ...receipt.receipt, score: receipt.receipt.score + 1 } };
  return {
    webhooks: [await eventOf(BODY), await eventOf(BODY.replace('12:00', '13:00'))],
    receipts: [await verdictOn(receipt), await verdictOn(changed)],
  };
}
