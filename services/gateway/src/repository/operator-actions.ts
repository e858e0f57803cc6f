/** The log of operators' actions. It is append-only: the database refuses any other change. */

import type { Database, Statement } from '@laurel/postgres';
import type { Position } from '@laurel/values/cursor';

export interface NewAction {
  readonly id: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string | null;
  /** JSON text, like `before`. */
  readonly request: string | null;
  readonly before: string | null;
  readonly requestId: string;
}

export interface ActionResult {
  /** The HTTP status of the response. */
  readonly status: number;
  /** What the action created, in the form of a subject. */
  readonly created: string | null;
  /** The subject afterwards, as JSON text. */
  readonly after: string | null;
}

/** An action. Its result is null until one is written. */
export type Action = NewAction & { readonly at: Date } & (
    | ActionResult
    | { readonly status: null; readonly created: null; readonly after: null }
  );

const INSERT: Statement = {
  name: 'insert_operator_action',
  text: `
    insert into operator_actions (id, actor, action, subject, request, before, request_id)
    values ($1, $2, $3, $4, $5, $6, $7)`,
};

/** Stores an action before it begins. Durable: the action may begin once the promise resolves. */
export async function insertAction(database: Database, action: NewAction): Promise<void> {
  const { id, actor, subject, request, before, requestId } = action;
  await database.query(INSERT, [id, actor, action.action, subject, request, before, requestId]);
}

const INSERT_RESULT: Statement = {
  name: 'insert_operator_action_result',
  text: 'insert into operator_action_results (action_id, status, created, after) values ($1, $2, $3, $4)',
};

export async function insertActionResult(database: Database, id: string, result: ActionResult): Promise<void> {
  await database.query(INSERT_RESULT, [id, result.status, result.created, result.after]);
}

const SELECT_PAGE: Statement = {
  name: 'select_operator_actions',
  text: `
    select
      a.id, a.at, a.actor, a.action, a.subject, a.request, a.before, a.request_id as "requestId",
      r.status, r.created, r.after
    from operator_actions a
    left join operator_action_results r on r.action_id = a.id
    where (a.at, a.id) < ($1::timestamptz, $2::uuid)
      and ($3::text is null or a.action = $3)
      and ($4::text is null or coalesce(r.created, a.subject) = $4)
      and ($5::text is null or a.actor = $5)
    order by a.at desc, a.id desc
    limit $6`,
};

/** Which actions to list; a filter that is null allows any. */
export interface ActionFilter {
  readonly action: string | null;
  /** What the action created, if anything. */
  readonly subject: string | null;
  readonly actor: string | null;
}

/** The actions below a position, newest first. */
export async function listActions(
  database: Database,
  { action, subject, actor }: ActionFilter,
  page: { readonly below: Position; readonly limit: number },
): Promise<Action[]> {
  const { below, limit } = page;
  return database.query<Action>(SELECT_PAGE, [below.at, below.id, action, subject, actor, limit]);
}
