/**
 * Calls as curl and with the SDK. The key is in an environment variable, because the portal cannot
 * show it again:
 *   callSamples(environment, { calls: [get('/v1/tournaments')], sdk: 'await ...;' })
 */
import type { Environment } from '../api/api-types.ts';

export interface Sample {
  readonly name: 'curl' | 'SDK';
  readonly text: string;
}

export interface SampleCall {
  readonly method: string;
  /** The path includes the query: "/v1/attempts". */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of the body. */
  readonly body?: string | undefined;
  /** Options of curl: "-sS". */
  readonly options?: string;
}

interface Samples {
  readonly calls: readonly SampleCall[];
  /** The same calls of `laurel`, as statements. */
  readonly sdk: string;
}

/** The text that a reader replaces with a player of their own. */
export const EXAMPLE_PLAYER = 'player-1';

export function get(path: string): SampleCall {
  return { method: 'GET', path };
}

export function post(path: string, body: unknown, idempotencyKey?: string): SampleCall {
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  return { method: 'POST', path, headers, body: body === undefined ? undefined : JSON.stringify(body) };
}

export function callSamples(
  environment: Environment,
  { calls, sdk }: Samples,
  origin = window.location.origin,
): readonly Sample[] {
  return [
    { name: 'curl', text: calls.map((call) => curlOf(call, environment, origin)).join('\n\n') },
    { name: 'SDK', text: sdkOf(sdk, environment, origin) },
  ];
}

interface NewAttempt {
  readonly challenge_id?: string;
  readonly tournament_round_id?: string;
  readonly player_ref?: string;
}

/** Creates an attempt: in a challenge or in a round. Sent twice, the call charges once. */
export function attemptSamples(environment: Environment, attempt: NewAttempt, origin?: string): readonly Sample[] {
  const body = { ...attempt, player_ref: attempt.player_ref ?? EXAMPLE_PLAYER };
  const key = `match-1-${attempt.challenge_id ?? attempt.tournament_round_id}`;
  const sdk = `const attempt = await laurel.attempts.create(
  ${literal(body)},
  { idempotencyKey: ${literal(key)} },
);`;
  return callSamples(environment, { calls: [post('/v1/attempts', body, key)], sdk }, origin);
}

/** Returns the calls with which a new key can be tried: they need no player and change nothing. */
export function challengeListSamples(environment: Environment): readonly Sample[] {
  return callSamples(environment, {
    calls: [get(`/v1/challenges?player_ref=${EXAMPLE_PLAYER}&status=all`)],
    sdk: `const { data: challenges } = await laurel.challenges.list({ player_ref: '${EXAMPLE_PLAYER}', status: 'all' });`,
  });
}

/** `curl` with the key of the environment. */
export function curlOf(call: SampleCall, environment: string, origin: string): string {
  return curlWith(`X-API-Key: $${keyVariable(environment)}`, call, origin);
}

/** `curl` with a header whose value may name a variable of the shell. */
export function curlWith(header: string, call: SampleCall, origin: string): string {
  const { method, path, headers = {}, body, options } = call;
  const command = ['curl', options, method !== 'GET' && `-X ${method}`, quote(origin + path)];
  const lines = [
    command.filter((word) => typeof word === 'string').join(' '),
    `-H "${header}"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
  ];
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `--data-raw ${quote(body)}`);
  return lines.join(' \\\n  ');
}

/** The calls of the SDK, after the lines with which every program that uses the SDK begins. */
export function sdkOf(calls: string, environment: string, origin: string): string {
  const key = `process.env.${keyVariable(environment)}`;
  return `import { Laurel } from '@laurel/sdk';

const laurel = new Laurel({ apiKey: ${key}, baseUrl: '${origin}' });
${calls}`;
}

/** A value as JavaScript; members that are undefined are left out. */
export function literal(value: unknown): string {
  if (typeof value === 'string') {
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${/^[a-z_]\w*$/i.test(name) ? name : literal(name)}: ${literal(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** The variable that holds the key of an environment. */
function keyVariable(environment: string): string {
  return `LAUREL_${environment.toUpperCase()}_KEY`;
}

/** Quotes a text as one word of a shell, whatever characters it has. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
