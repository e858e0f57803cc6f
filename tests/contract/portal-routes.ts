/**
 * The routes of the portal as docs/openapi/portal-api.yaml describes them, each with a request made
 * from the document and some ids. So a new route of the document is tested without a line in a
 * test.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': { readonly examples: Readonly<Record<string, { readonly value: object }>> };
    };
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The ids for the parameters of a path, by the parameter's name, such as `attemptId`. */
export type PathIds = Readonly<Record<string, string>>;

export interface PortalRoute {
  readonly method: string;
  /** The path, such as `/api/portal/programs/{programId}/attempts`. */
  readonly path: string;
  readonly statuses: readonly number[];
  /** The documented example, with the caller's ids in the members that are named like an id. */
  bodyFor(ids: PathIds): object | undefined;
  /** Returns the path with the query that the route requires, and with `query` if there is one. */
  addressFor(ids: PathIds, query?: string): string;
}

const METHODS = ['get', 'post', 'patch', 'delete'] as const;

export function portalRoutes(): readonly PortalRoute[] {
  const file = new URL('../../docs/openapi/portal-api.yaml', import.meta.url);
  const { paths } = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }) as {
    readonly paths: Readonly<Record<string, Partial<Record<(typeof METHODS)[number], Operation>>>>;
  };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/portal/'))
    .flatMap(([path, operations]) =>
      METHODS.flatMap((method) => {
        const operation = operations[method];
        return operation === undefined ? [] : [routeOf(method.toUpperCase(), path, operation)];
      }),
    );
}

function routeOf(method: string, path: string, { parameters = [], requestBody, responses }: Operation): PortalRoute {
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required === true);
  const example = Object.values(requestBody?.content['application/json'].examples ?? {})[0]?.value;
  return {
    method,
    path,
    statuses: Object.keys(responses).map(Number),
    bodyFor: (ids) => example && { ...example, ...idMembers(example, ids) },
    addressFor: (ids, query) => {
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
      // The only parameter that a route requires.
      const all = [...needed.map(({ name }) => `${name}=test`), ...(query === undefined ? [] : [query])];
      return all.length === 0 ? filled : `${filled}?${all.join('&')}`;
    },
  };
}

/** The members of a body whose ids are known: `challenge_id` is `challengeId` in `ids`. */
function idMembers(body: object, ids: PathIds): Record<string, string> {
  const known = Object.entries(ids).map(([name, id]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), id]);
  return Object.fromEntries(known.filter(([name]) => name !== undefined && name in body));
}
