/** Audit: checks every invariant of the ledger. */
import type { RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { AuditRequest, AuditResponse } from '@laurel/proto/wallet';
import { runAudit } from '../repository/audit.ts';

export function audit({ database }: { database: Database }) {
  return async (_request: AuditRequest, { signal }: Pick<RpcContext, 'signal'>): Promise<AuditResponse> => {
    return { checks: await runAudit(database, signal) };
  };
}
