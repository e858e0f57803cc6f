/**
 * The demo's push: our server posts the outcome of an attempt, signed with the secret of its
 * integration.
 */
import { randomBytes } from 'node:crypto';
import { type Answer, callStack, type Json } from '@laurel/local-infrastructure/running-stack';
import { type Integration, type Laurel, signIntegrationBody } from '@laurel/sdk';
import { hasWon, type PaidAttempt } from './attempt.ts';
import { chapter, check, fetchAndPrint } from './print.ts';
import type { Webhooks } from './webhooks.ts';

type Demo = {
  readonly laurel: Laurel;
  readonly origin: string;
  readonly webhooks: Webhooks;
  readonly mark: Record<string, unknown>;
  readonly attempt: PaidAttempt;
  /** The integration of an earlier run. */
  readonly earlier: Integration | undefined;
};

/** Resolves to the integration's id. */
export async function settleByPush(on: Demo): Promise<string> {
  const { laurel, origin, webhooks, attempt } = on;
  const { id, secret } = await prepare(on);
  await laurel.integrations.update(id, { status: 'active' });

  /** Signs exactly the bytes that it sends. */
  const post = async (outcome: object, signingSecret: string, expect: number): Promise<Answer> => {
    const body = JSON.stringify(outcome);
    const headers = { 'x-service-signature': await signIntegrationBody(body, signingSecret) };
    const path = `/webhooks/integrations/${id}/outcome`;
    return callStack(origin, { method: 'POST', path, headers, body, expect }, fetchAndPrint);
  };
  const outcome = { attempt_id: attempt.id, score: attempt.score };

  chapter('A forger: posts another score for that attempt, signed with another secret');
  const forged = await post({ ...outcome, score: attempt.score + 1 }, randomBytes(32).toString('hex'), 401);
  check((forged.body.error as Json).code === 'unauthorized', 'a signature with another secret must be unauthorized');

  chapter('Partner: our server posts the outcome, signed, and needs no API key');
  const settled = await post(outcome, secret, 200);
  check(settled.body.met_threshold === true, 'a pushed score at the bar must win');
  webhooks.expect('the attempt whose outcome we pushed', 'attempt.settled', hasWon(attempt));

  chapter('Partner: our connection broke, so we post the same body once more');
  const again = await post(outcome, secret, 200);
  check(again.text === settled.text, 'the same report must get the same outcome');
  return id;
}

async function prepare({ laurel, mark, earlier }: Demo): Promise<{ id: string; secret: string }> {
  if (earlier === undefined) {
    chapter('Partner: our server will push outcomes, so we create an integration, and activate the draft');
    const created = await laurel.integrations.create({ transport: 'push_webhook', descriptor: mark });
    return { id: created.id, secret: String(created.signing_secret) };
  }
  chapter(
    'Partner: our server will push outcomes; the secret was shown once, so we rotate it, and activate the integration',
  );
  const rotated = await laurel.integrations.rotateSecret(earlier.id);
  await laurel.integrations.retirePreviousSecret(earlier.id);
  return { id: earlier.id, secret: rotated.signing_secret };
}
