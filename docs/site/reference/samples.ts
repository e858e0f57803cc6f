/**
 * The request of an operation as curl and as a call of the SDK, built from the operation and its
 * first example.
 */
import { jsonOf, type Parameter, type Route } from './document.ts';

/**
 * The method of the SDK for each route of `/v1`. Its arguments follow from the operation: path,
 * body or query, idempotency key.
 */
const SDK_METHODS: Readonly<Record<string, string>> = {
  'GET /v1/challenges': 'challenges.list',
  'POST /v1/challenges/{id}/distribution': 'challenges.seedDistribution',
  'POST /v1/players': 'players.link',
  'POST /v1/attempts': 'attempts.create',
  'POST /v1/attempts/{attempt_id}/outcome': 'attempts.reportOutcome',
  'GET /v1/attempts/{attempt_id}': 'attempts.retrieve',
  'GET /v1/tournaments': 'tournaments.list',
  'GET /v1/tournaments/rounds/{round_id}/leaderboard': 'rounds.leaderboard',
  'POST /v1/integrations': 'integrations.create',
  'GET /v1/integrations': 'integrations.list',
  'PATCH /v1/integrations/{id}': 'integrations.update',
  'POST /v1/integrations/{id}/rotate-secret': 'integrations.rotateSecret',
  'DELETE /v1/integrations/{id}/previous-secret': 'integrations.retirePreviousSecret',
};

const SDK_SET_UP = `import { Laurel } from '@laurel/sdk';

const { LAUREL_API_KEY = '', LAUREL_BASE_URL = '' } = process.env;
const laurel = new Laurel({ apiKey: LAUREL_API_KEY, baseUrl: LAUREL_BASE_URL });
`;

/**
 * Returns the source code of the route's SDK call; undefined for a route outside `/v1`, which the
 * SDK does not call. Throws if a `/v1` route has no SDK call.
 */
export function sdkSample(route: Route): string | undefined {
  if (!route.path.startsWith('/v1/')) return undefined;
  const name = `${route.method.toUpperCase()} ${route.path}`;
  const method = SDK_METHODS[name];
  if (method === undefined)
    throw new Error(`the reference has no call of the SDK for ${name}: docs/site/reference/samples.ts`);
  const body = bodyOf(route);
  const query = shownQuery(route);
  const key = parametersIn(route, 'header').find((parameter) => parameter.name === 'Idempotency-Key');
  const args = [
    ...parametersIn(route, 'path').map((parameter) => quoted(exampleOf(parameter))),
    ...(body === undefined ? [] : [literal(body)]),
    ...(query.length === 0 ? [] : [literal(Object.fromEntries(query))]),
    ...(key === undefined ? [] : [literal({ idempotencyKey: exampleOf(key) })]),
  ];
  return `${SDK_SET_UP}\nconst answer = await laurel.${method}(${args.join(', ')});\n`;
}

/** The curl command, with `$BASE` and `$KEY` as in the quick start. */
export function curlSample(route: Route): string {
  const { method, operation } = route;
  const path = parametersIn(route, 'path').reduce((text, parameter) => {
    return text.replace(`{${parameter.name}}`, encodeURIComponent(exampleOf(parameter)));
  }, route.path);
  const query = new URLSearchParams(shownQuery(route)).toString();
  const body = bodyOf(route);
  const isKeyless = operation.security?.length === 0;
  const headers = parametersIn(route, 'header').map((parameter) => `-H '${parameter.name}: ${exampleOf(parameter)}'`);
  const isImplied = method === (body === undefined ? 'get' : 'post');
  const words = [
    `curl -s ${isImplied ? '' : `-X ${method.toUpperCase()} `}"$BASE${path}${query === '' ? '' : `?${query}`}"`,
    ...(isKeyless ? [] : ['-H "X-API-Key: $KEY"']),
    ...headers,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${forShell(JSON.stringify(body))}'`]),
  ];
  return `${words.join(' \\\n  ')}\n`;
}

function bodyOf({ operation }: Route): unknown {
  return jsonOf(operation.requestBody)?.examples[0]?.[1].value;
}

/** Only required parameters and `player_ref`: a sample with every filter shows none clearly. */
function shownQuery(route: Route): [string, string][] {
  const query = parametersIn(route, 'query');
  const named = query.filter(({ name, required }) => required === true || name === 'player_ref');
  return named.map((parameter) => [parameter.name, exampleOf(parameter)]);
}

function parametersIn({ operation }: Route, place: Parameter['in']): readonly Parameter[] {
  return (operation.parameters ?? []).filter((parameter) => parameter.in === place);
}

function exampleOf({ name, example, schema }: Parameter): string {
  const found = example ?? schema?.example;
  return found === undefined ? `<${name}>` : String(found);
}

function forShell(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** JSON as a TypeScript literal: names without quotes if they need none, texts in single quotes. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(
        ([name, item]) => `${/^[a-z_]\w*$/i.test(name) ? name : quoted(name)}: ${literal(item, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  const line = `${open} ${parts.join(', ')} ${close}`;
  if (line.length + indent.length <= 60 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
