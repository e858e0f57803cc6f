/** The demo's push: our server posts the outcome of an attempt, signed with the secret of its integration. */
import { createHmac, randomBytes } from 'node:crypto';
import { type PaidAttempt, wonWebhook } from './demo-attempt.ts';
import { type Answer, type Call, chapter, check, type Json } from './demo-calls.ts';
import type { Webhooks } from './demo-webhooks.ts';

type Demo = {
  readonly call: (shape: Call) => Promise<Answer>;
  readonly asPartner: Record<string, string>;
  readonly webhooks: Webhooks;
  readonly route: string;
  readonly mark: object;
  readonly attempt: PaidAttempt;
  /** The integration of an earlier run. */
  readonly earlier: Json | undefined;
};

/** What a partner's server sends as `X-Service-Signature`: its key is the secret as it was shown, and it signs the very bytes of the body. */
export function signatureOf(rawBody: string, signingSecret: string): string {
  return `sha256=${createHmac('sha256', signingSecret).update(rawBody).digest('hex')}`;
}

/** Resolves to the id of the integration. */
export async function settleByPush(on: Demo): Promise<unknown> {
  const { call, asPartner, webhooks, route, attempt } = on;
  const { id, secret } = await prepare(on);
  await call({ method: 'PATCH', path: `${route}/${id}`, headers: asPartner, body: { status: 'active' }, expect: 200 });

  const post = (body: object, signingSecret: string, expect: number) =>
    call({
      method: 'POST',
      path: `/webhooks/integrations/${id}/outcome`,
      headers: { 'x-service-signature': signatureOf(JSON.stringify(body), signingSecret) },
      body,
      expect,
    });
  const report = { attempt_id: attempt.id, score: attempt.score };

  chapter('A forger: posts another score for that attempt, signed with another secret');
  const forged = await post({ ...report, score: attempt.score + 1 }, randomBytes(32).toString('hex'), 401);
  check((forged.body.error as Json).code === 'unauthorized', 'a signature with another secret must be unauthorized');

  chapter('Partner: our server posts the outcome, signed, and needs no API key');
  const settled = await post(report, secret, 200);
  check(settled.body.met_threshold === true, 'a pushed score at the bar must win');
  webhooks.expect(wonWebhook('the attempt whose outcome we pushed', attempt));

  chapter('Partner: our connection broke, so we post the same body once more');
  const again = await post(report, secret, 200);
  check(again.text === settled.text, 'the same report must get the same outcome');
  return id;
}

async function prepare({ call, asPartner, route, mark, earlier }: Demo) {
  if (earlier === undefined) {
    chapter('Partner: our server will push outcomes, so we create an integration, and activate the draft');
    const body = { transport: 'push_webhook', descriptor: mark };
    const created = await call({ method: 'POST', path: route, headers: asPartner, body, expect: 201 });
    return { id: created.body.id, secret: String(created.body.signing_secret) };
  }
  chapter(
    'Partner: our server will push outcomes; the secret was shown once, so we rotate it, and activate the integration',
  );
  const path = `${route}/${earlier.id}`;
  const rotated = await call({ method: 'POST', path: `${path}/rotate-secret`, headers: asPartner, expect: 200 });
  await call({ method: 'DELETE', path: `${path}/previous-secret`, headers: asPartner, expect: 200 });
  return { id: earlier.id, secret: String(rotated.body.signing_secret) };
}
