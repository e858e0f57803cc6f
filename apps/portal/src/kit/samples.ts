/**
 * `callSamples(environment, { path: '/tournaments', sdk: 'laurel.tournaments.list()' })`: a call of
 * `/v1` for `<CodeSample>`. The key stands in an environment variable: nobody can show it again.
 */
import type { Environment } from '../api/api-types.ts';

interface Call {
  /** Below `/v1`. */
  readonly path: string;
  /** A POST with this body and a new `Idempotency-Key`; without it a GET. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The same call as an expression. */
  readonly sdk: string;
}

/** What a reader replaces with a player of their own. */
export const EXAMPLE_PLAYER = 'player-1';

export function callSamples(environment: Environment, { path, body, sdk }: Call) {
  const variable = `LAUREL_${environment.toUpperCase()}_KEY`;
  const { origin } = window.location;
  const lines = [
    `curl '${origin}/v1${path}'`,
    `-H "X-API-Key: $${variable}"`,
    ...(body === undefined
      ? []
      : ['-H "Idempotency-Key: $(uuidgen)"', "-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ];
  return [
    { name: 'curl', text: lines.join(' \\\n  ') },
    {
      name: 'SDK',
      text: `import { Laurel } from '@laurel/sdk';\n\nconst laurel = new Laurel({ apiKey: process.env.${variable}, baseUrl: '${origin}' });\nconst answer = await ${sdk};`,
    },
  ];
}

/** Creates an attempt: in a challenge or in a round. */
export function attemptSamples(
  environment: Environment,
  contest: { readonly challenge_id: string } | { readonly tournament_round_id: string },
) {
  const body = { ...contest, player_ref: EXAMPLE_PLAYER };
  const members = Object.entries(body).map(([name, value]) => `${name}: '${value}'`);
  return callSamples(environment, {
    path: '/attempts',
    body,
    sdk: `laurel.attempts.create(\n  { ${members.join(', ')} },\n  { idempotencyKey: crypto.randomUUID() },\n)`,
  });
}

export function challengeListSamples(environment: Environment) {
  return callSamples(environment, {
    path: `/challenges?player_ref=${EXAMPLE_PLAYER}&status=all`,
    sdk: `laurel.challenges.list({ player_ref: '${EXAMPLE_PLAYER}', status: 'all' })`,
  });
}
