/**
 * The approvals of programs: who approved, and which live key the approval issued. They are stored
 * in case the response of an approval was lost.
 */
import type { Statement, Transaction } from '@laurel/postgres';
import type { Approval } from '../domain/program.ts';

const INSERT: Statement = {
  name: 'insert_approval',
  text: 'insert into approvals (program_id, api_key_id, operator, approved_at) values ($1, $2, $3, $4)',
};

export async function insertApproval(
  transaction: Transaction,
  approval: {
    readonly programId: string;
    readonly apiKeyId: string;
    readonly operator: string;
    readonly now: Date;
  },
): Promise<void> {
  const { programId, apiKeyId, operator, now } = approval;
  await transaction.query(INSERT, [programId, apiKeyId, operator, now]);
}

const UPDATE: Statement = {
  name: 'update_approval',
  text: 'update approvals set api_key_id = $2 where program_id = $1',
};

/** Stores the key that a repeated approval issued. */
export async function updateApproval(transaction: Transaction, programId: string, apiKeyId: string): Promise<void> {
  await transaction.query(UPDATE, [programId, apiKeyId]);
}

// A use of the key leaves up to three traces. They are written separately, and a crash may lose
// some of them, so one trace is enough to show a use.
const SELECT: Statement = {
  name: 'select_approval',
  text: `
    select approvals.operator, approvals.approved_at as "approvedAt", key.revoked_at is null as "isKeyCurrent",
      key.last_used_at is not null
      or exists (
        select from request_windows
        where request_windows.subject = key.window_id and request_windows.key_id = key.id
      )
      or exists (
        select from first_requests
        where first_requests.program_id = key.program_id and first_requests.environment = key.environment
          and first_requests.milestone = 'key_used'
      ) as "wasKeyUsed"
    from approvals join api_keys as key on key.id = approvals.api_key_id
    where approvals.program_id = $1`,
};

/** Null if the program is not approved, or was approved by a release that did not record it. */
export async function findApproval(transaction: Transaction, programId: string): Promise<Approval | null> {
  const [approval] = await transaction.query<Approval>(SELECT, [programId]);
  return approval ?? null;
}
