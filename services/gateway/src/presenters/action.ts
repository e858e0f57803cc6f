import type { Action } from '../repository/operator-actions.ts';

/**
 * An action in the operators' log, as `/api/operator` shows it. `outcome` is `done`, `refused` or
 * `unknown`. It is unknown after a failure of the gateway or the death of its process, because the
 * action may have taken effect nevertheless. If the action created something, that is its subject.
 */
export function presentAction(action: Action) {
  return {
    id: action.id,
    at: action.at.toISOString(),
    actor: action.actor,
    action: action.action,
    subject: action.created ?? action.subject,
    request: parsed(action.request),
    before: parsed(action.before),
    after: parsed(action.after),
    outcome: outcomeOf(action.status),
    status: action.status,
    request_id: action.requestId,
  };
}

function outcomeOf(status: number | null): 'done' | 'refused' | 'unknown' {
  if (status === null || status >= 500) return 'unknown';
  return status < 400 ? 'done' : 'refused';
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
