/** Announces a program's facts to the integration service, which keeps the newest version. */
import { isRefused } from '@laurel/errors';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import type { Logger } from '@laurel/service';
import type { ProgramFacts } from '../domain/program.ts';
import type { IntegrationClient } from './integration.ts';

/** Shorter than other calls' deadlines: a change of a program holds its lock meanwhile. */
const DEADLINE_MS = 2_000;

export async function announceProgram(
  integration: Pick<IntegrationClient, 'putProgram'>,
  { programId, developerId, openEnvironments, version }: ProgramFacts,
  { requestId }: { readonly requestId: string },
): Promise<void> {
  const put = await integration.putProgram(
    {
      programId,
      developerId: developerId ?? '',
      openEnvironments: openEnvironments.map((name) => ENVIRONMENTS[name]),
      version,
    },
    { requestId, deadlineMs: DEADLINE_MS, retryLostReply: true },
  );
  if (isRefused(put)) throw new Error(`the integration service refused a program: ${put.code}`);
}

/** Returns false if the service cannot be reached, and logs that. */
export async function tryToAnnounce(
  integration: Pick<IntegrationClient, 'putProgram'>,
  facts: ProgramFacts,
  { requestId, logger }: { readonly requestId: string; readonly logger: Logger },
): Promise<boolean> {
  try {
    await announceProgram(integration, facts, { requestId });
    return true;
  } catch (error) {
    logger.warn({ err: error, requestId, programId: facts.programId }, 'a program is announced later');
    return false;
  }
}
