/** What a developer copies from the catalogue. */
import type { WebhookEventDescription } from '../../api/api-types.ts';

/** The request as it arrives, with placeholders for its signatures. The body is one line. */
export function sampleOfDelivery({ event, sample }: WebhookEventDescription): string {
  return [
    'POST /webhooks HTTP/1.1',
    'Content-Type: application/json',
    `X-Webhook-Event: ${event}`,
    'X-Webhook-Delivery-Id: 01a20f3c-5d6e-7f80-8123-456789abcdef',
    'X-Webhook-Signature: sha256=<64 hexadecimal digits>',
    'webhook-id: 01a20f3c-5d6e-7f80-8123-456789abcdef',
    'webhook-timestamp: <seconds since 1970>',
    'webhook-signature: v1,<base64>',
    '',
    JSON.stringify(sample),
  ].join('\n');
}

const SDK = `import { verifyWebhook, WebhookVerificationError } from '@laurel/sdk';

// With Express: app.post('/webhooks', express.raw({ type: '*/*' }), receive);
async function receive(request, response) {
  try {
    const { event, dedupeKey } = await verifyWebhook({
      body: request.body, // the raw bytes
      headers: request.headers,
      secrets: [process.env.LAUREL_WEBHOOK_SECRET],
    });
    await handleOnce(dedupeKey, event);
    response.sendStatus(204);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.status(400).send(error.reason);
  }
}`;

const NODE = `import { createHmac, timingSafeEqual } from 'node:crypto';

// \`body\` is a Buffer of the bytes that arrived, \`signature\` is X-Webhook-Signature.
function isGenuine(secret, body, signature) {
  const expected = Buffer.from(\`sha256=\${createHmac('sha256', secret).update(body).digest('hex')}\`);
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}`;

const PYTHON = `import hashlib, hmac

# \`body\` is the bytes that arrived, \`signature\` is X-Webhook-Signature.
def is_genuine(secret: str, body: bytes, signature: str) -> bool:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={digest}".encode(), signature.encode())`;

const SHELL = `# body.json has the bytes that arrived, without a line break at its end.
openssl dgst -sha256 -hmac "$LAUREL_WEBHOOK_SECRET" body.json`;

export const VERIFY_SAMPLES = [
  { name: 'SDK', text: SDK },
  { name: 'Node', text: NODE },
  { name: 'Python', text: PYTHON },
  { name: 'Shell', text: SHELL },
] as const;
