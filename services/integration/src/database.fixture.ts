/**
 * A migrated database of this service for tests below the server, which insert programs and
 * integrations as rows.
 */

import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import type { Tenant } from '@laurel/values/tenant';

export interface IntegrationDatabase {
  /** A connection as the superuser. */
  readonly superuser: Database;
  /** Opens another connection, as the role that runs the service. */
  connect(): Database;
  /** A draft of a program in test; its developer is new unless one is given. */
  newIntegration(
    developerId?: string,
  ): Promise<{ readonly id: string; readonly developerId: string; readonly tenant: Tenant }>;
}

const INSERT_PROGRAM = {
  text: `insert into programs (id, developer_id, open_environments, version) values ($1, $2, array['test'], 1)`,
};

const INSERT_INTEGRATION = {
  text: `
insert into integrations (id, program_id, environment, transport, status, descriptor, created_at)
values ($1, $2, 'test', 'push_webhook', 'draft', '{}', now())`,
};

export async function startIntegrationDatabase(stack: AsyncDisposableStack): Promise<IntegrationDatabase> {
  const scratch = stack.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  const connect = (url: string) =>
    stack.use(createDatabase({ url, maxConnections: 2, applicationName: 'integration-test' }));
  const superuser = connect(scratch.url);
  return {
    superuser,
    connect: () => connect(scratch.runningUrl),
    async newIntegration(developerId = newId()) {
      const [id, programId] = [newId(), newId()];
      await superuser.query(INSERT_PROGRAM, [programId, developerId]);
      await superuser.query(INSERT_INTEGRATION, [id, programId]);
      return { id, developerId, tenant: { programId, environment: 'test' } };
    },
  };
}
