/**
 * A call as the text of `<CodeSample samples={[{ name: 'curl', text: curlOf(...) }]} />`. The key
 * stands in an environment variable, because nobody can show it again.
 */
export interface SampleCall {
  readonly method: string;
  /** With its query: "/v1/attempts". */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of the body. */
  readonly body?: string | undefined;
}

/** The variable that holds the key of an environment. */
function keyVariable(environment: string): string {
  return `LAUREL_${environment.toUpperCase()}_KEY`;
}

/** `curl` with the key of the environment. */
export function curlOf(call: SampleCall, environment: string, origin: string): string {
  return curlWith(`X-API-Key: $${keyVariable(environment)}`, call, origin);
}

/** `curl` with a header whose value may name a variable of the shell. */
export function curlWith(header: string, { method, path, headers = {}, body }: SampleCall, origin: string): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(origin + path)}`,
    `-H "${header}"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
  ];
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `--data-raw ${quote(body)}`);
  return lines.join(' \\\n  ');
}

/** The calls of the SDK below the lines that every program of it begins with. */
export function sdkOf(calls: string, environment: string, origin: string): string {
  const key = `process.env.${keyVariable(environment)}`;
  return `import { Laurel } from '@laurel/sdk';

const laurel = new Laurel({ apiKey: ${key}, baseUrl: '${origin}' });
${calls}`;
}

/** A name for a player, until the program has one of its own. */
export const FIRST_PLAYER = 'player-1';

/** What a new key can be tried with: it needs no player and changes nothing. */
export function firstCallSamples(environment: string, origin: string) {
  const call = { method: 'GET', path: `/v1/challenges?player_ref=${FIRST_PLAYER}` };
  const line = `const { data: challenges } = await laurel.challenges.list({ player_ref: '${FIRST_PLAYER}' });`;
  return [
    { name: 'curl', text: curlOf(call, environment, origin) },
    { name: 'SDK', text: sdkOf(line, environment, origin) },
  ];
}

/** One word of a shell, whatever characters it has. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
