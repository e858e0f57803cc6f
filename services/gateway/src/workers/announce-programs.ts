/**
 * After a time without the integration service, or when its database has lost its last second: hands over the facts of the programs that an
 * operator changed meanwhile (`repository/program-facts.ts`). Until then the service goes on with the facts that it has.
 */
import { newId } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import type { IntegrationClient } from '../clients/integration.ts';
import { tryToAnnounce } from '../clients/program-facts.ts';
import { announcePrograms } from '../repository/program-facts.ts';

export function createAnnouncePrograms({
  database,
  integration,
  logger,
}: {
  readonly database: Database;
  readonly integration: Pick<IntegrationClient, 'putProgram'>;
  readonly logger: Logger;
}) {
  return async function runOnce(): Promise<void> {
    await announcePrograms(database, (facts) => tryToAnnounce(integration, facts, { requestId: newId(), logger }));
  };
}
