/** Refusals that many routes share, each written once and referenced. */

interface Operation {
  readonly tags?: readonly string[];
  readonly responses: Record<string, object>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/**
 * The name of a shared refusal, by its status. No schema has such a name, because some generators
 * put both into one namespace.
 */
const NAMES: Readonly<Record<string, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  404: 'NotFound',
  409: 'StateConflict',
  429: 'TooManyRequests',
  500: 'InternalError',
};
const MIN_USES = 3;

/**
 * Replaces a refusal that at least three operations share by a reference, and returns the shared
 * refusals by name. If several shared refusals have the same status, each name begins with the
 * area: `OperatorUnauthorized`.
 */
export function shareResponses(paths: Paths): Record<string, object> {
  const uses = Map.groupBy(usesOf(paths), ({ status, text }) => `${status} ${text}`);
  const common = [...uses.values()].filter((alike) => alike.length >= MIN_USES);
  const ways = Map.groupBy(common, ([use]) => use?.status);
  const shared: Record<string, object> = {};
  for (const alike of common) {
    const [first] = alike;
    const name = NAMES[first?.status ?? ''];
    if (first === undefined || name === undefined) continue;
    const isOnlyWay = ways.get(first.status)?.length === 1;
    const qualified = isOnlyWay ? name : `${areaOf(alike.map(({ operation }) => operation))}${name}`;
    if (shared[qualified] !== undefined) continue;
    shared[qualified] = first.response;
    for (const { operation, status } of alike) {
      operation.responses[status] = { $ref: `#/components/responses/${qualified}` };
    }
  }
  return shared;
}

function usesOf(paths: Paths) {
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) =>
      Object.entries(operation.responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, response]) => ({ operation, status, response, text: JSON.stringify(response) })),
    );
}

/** The first word of the tags, if it is the same for all operations. */
function areaOf(operations: readonly Operation[]): string {
  const areas = new Set(operations.map(({ tags }) => tags?.[0]?.split(' ')[0] ?? ''));
  const [area = ''] = areas;
  return areas.size === 1 ? area : '';
}
