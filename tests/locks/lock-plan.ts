/**
 * Derives from a plan in which order it locks rows.
 *
 * A statement may lock several rows of a table only in an order that its text defines, in one of
 * two forms (docs/lock-order.md):
 *
 * - by ids: `select ... from t where id = any(...) order by id for no key update`. PostgreSQL locks
 *   the rows that the sort outputs: the plan has LockRows above a Sort by a key of the table.
 * - by values: `from (... order by id) w cross join lateral (select ... from t where t.id = w.id
 *   for no key update)`. The lateral part runs once for each row of `w`: the plan has LockRows,
 *   over one row that is found by the key, within the inner side of a Nested Loop whose outer side
 *   is sorted by the value that the key is compared with.
 *
 * An update or delete of several rows is joined, by their key, to a query of the same statement
 * that locks them in this order. An insert of several rows that may conflict with an existing key
 * gets them from a Sort. A statement that finds its rows by constants for a whole unique key
 * touches one row, and needs no order; `skip locked` never waits.
 */

/** A node of a plan, as `explain (verbose, format json)` prints it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Parent Relationship'?: string;
  readonly 'Subplan Name'?: string;
  readonly Operation?: string;
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly 'CTE Name'?: string;
  readonly 'Sort Key'?: readonly string[];
  readonly 'Group Key'?: readonly string[];
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Filter?: string;
  readonly 'Join Filter'?: string;
  readonly 'Hash Cond'?: string;
  readonly 'Merge Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The unique keys of each table: their columns, by the name of the index. */
export type UniqueKeys = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** A node of a plan that locks rows of a table. */
export interface LockPoint {
  /** The same id in every plan of the statement. */
  readonly id: string;
  readonly touchesOneRow: boolean;
  /** The violation of its order; null if there is none. */
  readonly flaw: string | null;
}

type Visited = { readonly node: PlanNode; readonly ancestors: readonly PlanNode[] };

export function lockPointsOf(plan: PlanNode, keys: UniqueKeys): readonly LockPoint[] {
  const nodes = visit(plan);
  const ctes = new Map(
    nodes.flatMap(({ node }) => {
      const name = node['Subplan Name']?.match(/^CTE (.*)$/)?.[1];
      return name === undefined ? [] : [[name, node] as const];
    }),
  );
  return nodes.flatMap(({ node, ancestors }): LockPoint[] => {
    const subplan =
      [...ancestors, node].findLast((one) => one['Subplan Name'] !== undefined)?.['Subplan Name'] ?? 'main';
    if (node['Node Type'] === 'LockRows') {
      const ordered = isLockedInOrder(node, ancestors, ctes, keys);
      return [
        {
          id: `${subplan} locks`,
          touchesOneRow: isOneRow(childOf(node), ctes, keys),
          flaw: ordered ? null : 'locks rows in no order that its text gives',
        },
      ];
    }
    if (node['Node Type'] !== 'ModifyTable') return [];
    const { Operation: operation = '', 'Relation Name': table = '' } = node;
    const id = `${subplan} ${operation.toLowerCase()}s ${table}`;
    const touchesOneRow = isOneRow(childOf(node), ctes, keys);
    if (operation === 'Insert') {
      const flaw = orderOf(childOf(node), ctes) === null ? 'inserts rows in no order that its text gives' : null;
      return [{ id, touchesOneRow, flaw }];
    }
    const flaw = changesWhatIsHeld(node, ctes, keys) ? null : 'changes rows that no query of it has locked';
    return [{ id, touchesOneRow, flaw }];
  });
}

function visit(node: PlanNode, ancestors: readonly PlanNode[] = []): readonly Visited[] {
  return [{ node, ancestors }, ...(node.Plans ?? []).flatMap((child) => visit(child, [...ancestors, node]))];
}

/** The one input of a node, apart from its subplans. */
function childOf(node: PlanNode, relationship: 'Outer' | 'Inner' | 'Subquery' = 'Outer'): PlanNode | undefined {
  return node.Plans?.find((child) => child['Parent Relationship'] === relationship);
}

function isLockedInOrder(
  node: PlanNode,
  ancestors: readonly PlanNode[],
  ctes: ReadonlyMap<string, PlanNode>,
  keys: UniqueKeys,
): boolean {
  const child = childOf(node);
  const scans = scansOf(child);
  const order = orderOf(child, ctes);
  if (order !== null && scans.some((scan) => isKeyOf(scan, order, keys))) return true;
  // Lateral: sorted by the nearest nested loop with this node on its inner side.
  const path = [...ancestors, node];
  return path.some((loop, depth) => {
    const next = path[depth + 1];
    if (loop['Node Type'] !== 'Nested Loop' || next?.['Parent Relationship'] !== 'Inner') return false;
    const outer = orderOf(childOf(loop), ctes)?.map(columnOf);
    const [scan, ...others] = scans;
    if (outer === undefined || scan === undefined || others.length > 0) return false;
    return isFoundByKey(scan, keys, (compared) => outer.includes(columnOf(compared)));
  });
}

/**
 * Whether each updated or deleted row comes from a query of the same statement that has locked it.
 */
function changesWhatIsHeld(node: PlanNode, ctes: ReadonlyMap<string, PlanNode>, keys: UniqueKeys): boolean {
  const below = visit(node).map((visited) => visited.node);
  const table = node['Relation Name'];
  const target = below.find((one) => one !== node && one['Relation Name'] === table && one.Alias === node.Alias);
  if (target === undefined) return false;
  return below.some((scan) => {
    const query = scan['CTE Name'] === undefined ? undefined : ctes.get(scan['CTE Name']);
    if (query === undefined) return false;
    const locked = visit(query).filter((one) => one.node['Node Type'] === 'LockRows');
    if (!locked.some((one) => scansOf(one.node).some((held) => held['Relation Name'] === table))) return false;
    return uniqueKeysOf(target, keys).some((key) =>
      key.every((column) => below.some((one) => joins(one, `${target.Alias}.${column}`, `${scan.Alias}.`))),
    );
  });
}

/** The sort order of a node's rows; null if no order is known. */
function orderOf(node: PlanNode | undefined, ctes: ReadonlyMap<string, PlanNode>): readonly string[] | null {
  if (node === undefined) return null;
  switch (node['Node Type']) {
    case 'Sort':
    case 'Incremental Sort':
      return node['Sort Key'] ?? null;
    case 'Merge Join':
    case 'Nested Loop':
    case 'Unique':
    case 'Limit':
    case 'LockRows':
    case 'Materialize':
    case 'Result':
    case 'ModifyTable':
    case 'WindowAgg':
      return orderOf(childOf(node), ctes);
    case 'Aggregate':
      return node['Group Key'] === undefined ? null : orderOf(childOf(node), ctes);
    case 'Subquery Scan':
      return orderOf(childOf(node, 'Subquery'), ctes);
    case 'CTE Scan':
      return orderOf(ctes.get(node['CTE Name'] ?? ''), ctes);
    default:
      return null;
  }
}

function isOneRow(node: PlanNode | undefined, ctes: ReadonlyMap<string, PlanNode>, keys: UniqueKeys): boolean {
  if (node === undefined) return false;
  switch (node['Node Type']) {
    case 'Index Scan':
    case 'Index Only Scan':
    case 'Bitmap Heap Scan':
      return isFoundByKey(node, keys, (compared) => !compared.includes('.'));
    case 'Nested Loop': {
      const inner = childOf(node, 'Inner');
      const isOneForEach =
        isOneRow(inner, ctes, keys) || (inner !== undefined && isFoundByKey(inner, keys, () => true));
      return isOneForEach && isOneRow(childOf(node), ctes, keys);
    }
    case 'Result':
      return childOf(node) === undefined || isOneRow(childOf(node), ctes, keys);
    case 'Aggregate':
      return node['Group Key'] === undefined;
    case 'Sort':
    case 'Limit':
    case 'LockRows':
    case 'ModifyTable':
      return isOneRow(childOf(node), ctes, keys);
    case 'Subquery Scan':
      return isOneRow(childOf(node, 'Subquery'), ctes, keys);
    case 'CTE Scan':
      return isOneRow(ctes.get(node['CTE Name'] ?? ''), ctes, keys);
    default:
      return false;
  }
}

function scansOf(node: PlanNode | undefined): readonly PlanNode[] {
  if (node === undefined) return [];
  const own = node['Relation Name'] === undefined || node['Node Type'] === 'ModifyTable' ? [] : [node];
  const children = (node.Plans ?? []).filter((child) => child['Subplan Name'] === undefined);
  return [...own, ...children.flatMap(scansOf)];
}

function uniqueKeysOf(scan: PlanNode, keys: UniqueKeys): readonly (readonly string[])[] {
  return [...(keys.get(scan['Relation Name'] ?? '')?.values() ?? [])];
}

/** Whether a scan compares each column of a unique key with a value of that kind. */
function isFoundByKey(scan: PlanNode, keys: UniqueKeys, isOfKind: (compared: string) => boolean): boolean {
  return uniqueKeysOf(scan, keys).some((key) =>
    key.every((column) => {
      const compared = comparedWith(scan, column);
      return compared !== null && isOfKind(compared);
    }),
  );
}

/** Whether the order contains one of the table's unique keys. */
function isKeyOf(scan: PlanNode, order: readonly string[], keys: UniqueKeys): boolean {
  return uniqueKeysOf(scan, keys).some(
    (key) => key.length <= order.length && key.every((column, index) => order[index] === `${scan.Alias}.${column}`),
  );
}

/** The value to which a scan compares a column for equality; null if it does not. */
function comparedWith(scan: PlanNode, column: string): string | null {
  const conditions = [scan['Index Cond'], scan['Recheck Cond'], scan.Filter].filter((one) => one !== undefined);
  for (const condition of conditions) {
    const name = `(?:${scan.Alias}\\.)?${column}`;
    const [, right] =
      condition.match(new RegExp(`(?:^|[( ])${name} = ([^() ]+|\\(InitPlan \\d+\\)\\.col\\d+)\\)`)) ?? [];
    if (right !== undefined && right !== 'ANY')
      return right.replace(/^\(InitPlan (\d+)\)\.col(\d+)$/, 'InitPlan$1col$2');
    const [, left] = condition.match(new RegExp(`\\(([^() ]+) = ${name}\\)`)) ?? [];
    if (left !== undefined) return left;
  }
  return null;
}

/** Whether a node compares the column with a column of that table for equality. */
function joins(node: PlanNode, column: string, table: string): boolean {
  const [, name = ''] = column.split('.');
  return [node['Index Cond'], node.Filter, node['Join Filter'], node['Hash Cond'], node['Merge Cond']].some(
    (condition) =>
      condition !== undefined &&
      new RegExp(
        `${name}\\b[^,]* = .*\\b${table.replace('.', '\\.')}|\\b${table.replace('.', '\\.')}\\w+ = .*${name}\\b`,
      ).test(condition),
  );
}

function columnOf(expression: string): string {
  return expression.slice(expression.lastIndexOf('.') + 1);
}
