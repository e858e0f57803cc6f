/** The calls of the quick start, as curl and with the SDK. */
import type { Environment } from '../../api/api-types.ts';
import { callSamples, curlWith, EXAMPLE_PLAYER, literal, post } from '../../kit/samples.ts';

export interface Samples {
  readonly environment: Environment;
  /** The address of this host. */
  readonly origin: string;
}

/**
 * Returns the calls that link a player: in test Laurel creates the account; in live the person
 * already has one.
 */
export function linkSamples({ environment, origin }: Samples, programId: string) {
  const email = environment === 'test' ? `${EXAMPLE_PLAYER}@${programId}.example` : 'the-player@their-mail.example';
  const link = { player_ref: EXAMPLE_PLAYER, email };
  const account = { ...link, funds: '50.00' };
  const linked = { calls: [post('/v1/players', link)], sdk: `await laurel.players.link(${literal(link)});` };
  if (environment === 'live') return callSamples(environment, linked, origin);
  const calls = [post('/api/sandbox/players', account), ...linked.calls];
  const sdk = `await laurel.sandbox.createPlayer(${literal(account)});\n${linked.sdk}`;
  return callSamples(environment, { calls, sdk }, origin);
}

export function reportSamples({ environment, origin }: Samples, attemptId: string) {
  const calls = [post(`/v1/attempts/${attemptId}/outcome`, { score: 100 }, `${attemptId}-outcome`)];
  const sdk = `const outcome = await laurel.attempts.reportOutcome('${attemptId}', { score: 100 });`;
  return callSamples(environment, { calls, sdk }, origin);
}

/**
 * curl registers an endpoint by the session of a developer. The sample with the SDK is the
 * receiver, which verifies the webhook.
 */
export function endpointSamples({ environment, origin }: Samples, programId: string) {
  const body = { url: 'https://your-server.example/webhooks', program_id: programId, environment };
  const call = post('/api/portal/webhook-endpoints', body);
  return [
    { name: 'curl', text: curlWith('Authorization: Bearer $LAUREL_SESSION', call, origin) },
    {
      name: 'SDK',
      text: `import { verifyWebhook } from '@laurel/sdk';

// On your server, with the raw bytes of the body:
const { event, dedupeKey } = await verifyWebhook({
  body: rawBody,
  headers: request.headers,
  secrets: [process.env.LAUREL_WEBHOOK_SECRET],
});`,
    },
  ];
}
