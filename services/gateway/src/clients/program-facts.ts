/**
 * Announces a program's facts to the services that keep them. The integration service gets the
 * program's developer and the environments in which its keys work; the webhook service gets the
 * developer. Each service keeps the newest version.
 */
import { isRefused } from '@laurel/errors';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import type { Logger } from '@laurel/service';
import type { AnnouncedTo, ProgramFacts } from '../domain/program.ts';
import type { IntegrationClient } from './integration.ts';
import type { WebhookClient } from './webhook.ts';

/**
 * Shorter than the deadline of other calls, because a change of a program holds the program's lock
 * during this call.
 */
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

/** The services to which the gateway announces the facts of programs. */
export interface ProgramFactServices {
  readonly integration: Pick<IntegrationClient, 'putProgram'>;
  readonly webhook: Pick<WebhookClient, 'putProgram'>;
}

/**
 * Announces a program's facts to both services, but skips a service in `unreachable`. Adds a
 * service that cannot be reached to that set, and logs this.
 */
export async function tryToAnnounce(
  { integration, webhook }: ProgramFactServices,
  facts: ProgramFacts,
  {
    requestId,
    logger,
    unreachable = new Set(),
  }: {
    readonly requestId: string;
    readonly logger: Logger;
    readonly unreachable?: Set<keyof ProgramFactServices>;
  },
): Promise<AnnouncedTo> {
  const announceTo = {
    integration: () => announceProgram(integration, facts, { requestId }),
    webhook: () => announceDeveloper(webhook, facts, { requestId }),
  };
  const reached = await Promise.all(
    (['integration', 'webhook'] as const).map(async (service) => {
      if (unreachable.has(service)) return false;
      try {
        await announceTo[service]();
        return true;
      } catch (error) {
        unreachable.add(service);
        logger.warn({ err: error, requestId, service, programId: facts.programId }, 'a program is announced later');
        return false;
      }
    }),
  );
  if (reached.every(Boolean)) return 'all';
  return reached.some(Boolean) ? 'some' : 'none';
}

/**
 * Reports the program's developer to the webhook service. From then on, events of the program go
 * to the endpoints of this developer.
 */
async function announceDeveloper(
  webhook: ProgramFactServices['webhook'],
  { programId, developerId, version }: ProgramFacts,
  { requestId }: { readonly requestId: string },
): Promise<void> {
  const put = await webhook.putProgram(
    { programId, developerId: developerId ?? '', version },
    { requestId, deadlineMs: DEADLINE_MS, retryLostReply: true },
  );
  if (isRefused(put)) throw new Error(`the webhook service refused a program: ${put.code}`);
}
