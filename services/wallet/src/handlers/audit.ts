/** Audit: checks every invariant of the ledger. */
import type { Database } from '@laurel/postgres';
import type { AuditRequest, AuditResponse } from '@laurel/proto/wallet';
import { runAudit } from '../repository/audit.ts';

export function audit({ database }: { database: Database }) {
  return async (_request: AuditRequest): Promise<AuditResponse> => {
    return { checks: await runAudit(database) };
  };
}
