/** The calls of the quick start, as curl and with the SDK. */
import type { Environment } from '../../api/api-types.ts';
import { curlOf, curlWith, FIRST_PLAYER, type SampleCall, sdkOf } from '../../kit/curl.ts';

export interface Samples {
  readonly environment: Environment;
  /** The address of this host. */
  readonly origin: string;
}

/** In test Laurel makes the player's account; in live a person has one. */
export function linkSamples(samples: Samples, programId: string) {
  const email =
    samples.environment === 'test' ? `${FIRST_PLAYER}@${programId}.example` : 'the-player@their-mail.example';
  const link = { player_ref: FIRST_PLAYER, email };
  const account = { ...link, funds: '50.00' };
  const linked = { call: post('/v1/players', link), line: `await laurel.players.link(${literal(link)});` };
  if (samples.environment === 'live') return samplesOf(samples, [linked.call], linked.line);
  return samplesOf(
    samples,
    [post('/api/sandbox/players', account), linked.call],
    `await laurel.sandbox.createPlayer(${literal(account)});\n${linked.line}`,
  );
}

export interface NewAttempt {
  readonly challengeId: string;
  readonly playerRef: string;
}

export function createSamples(samples: Samples, { challengeId, playerRef }: NewAttempt) {
  const body = { challenge_id: challengeId, player_ref: playerRef };
  const key = 'match-1-create';
  return samplesOf(
    samples,
    [{ ...post('/v1/attempts', body), headers: { 'Idempotency-Key': key } }],
    `const attempt = await laurel.attempts.create(
  ${literal(body)},
  { idempotencyKey: '${key}' },
);`,
  );
}

export function reportSamples(samples: Samples, attemptId: string) {
  const headers = { 'Idempotency-Key': `${attemptId}-outcome` };
  return samplesOf(
    samples,
    [{ ...post(`/v1/attempts/${attemptId}/outcome`, { score: 100 }), headers }],
    `const outcome = await laurel.attempts.reportOutcome('${attemptId}', { score: 100 });`,
  );
}

/** Registers by the session of a developer; the SDK has the other end, which verifies. */
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

function samplesOf({ environment, origin }: Samples, calls: readonly SampleCall[], lines: string) {
  return [
    { name: 'curl', text: calls.map((call) => curlOf(call, environment, origin)).join('\n\n') },
    { name: 'SDK', text: sdkOf(lines, environment, origin) },
  ];
}

function post(path: string, body: object): SampleCall {
  return { method: 'POST', path, body: JSON.stringify(body) };
}

/** An object of texts as one line of JavaScript. */
function literal(value: Readonly<Record<string, string>>): string {
  const quoted = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`;
  return `{ ${Object.entries(value)
    .map(([name, text]) => `${name}: ${quoted(text)}`)
    .join(', ')} }`;
}
