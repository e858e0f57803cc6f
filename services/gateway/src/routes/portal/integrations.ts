import { isRefused } from '@laurel/errors';
import { TRANSPORTS } from '@laurel/proto/enum-names';
import { MAX_BODY_BYTES, MAX_LOG_PAGE_ROWS, MAX_SAMPLE_BYTES } from '@laurel/values/limits';
import type { ByteBudgets } from '@laurel/values/tenant';
import type { IntegrationClient } from '../../clients/integration.ts';
import { tooManyRequests } from '../../http/answer.ts';
import type { Answer, Call } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import { presentDryRun, presentLogEntry } from '../../presenters/integration.ts';
import { component } from '../component.ts';
import { pageOf, pathId } from '../fields.ts';
import { dryRunSchema, logSchema } from '../integrations.ts';
import { descriptor, transport } from '../v1/integration-schemas.ts';
import { defineDeveloperRoute } from './route.ts';

const KIB = 1024;
export const logPage = z.object(pageOf(MAX_LOG_PAGE_ROWS));

const dryRun = component(
  'DryRunRequest',
  z.strictObject({
    transport,
    descriptor,
    sample: z
      .unknown()
      .refine((value) => value !== undefined, 'is missing')
      .openapi({
        description: `A body as the partner would send it, or a page as it would be fetched; at most ${MAX_SAMPLE_BYTES / KIB} KiB, since the body has the descriptor too.`,
      }),
  }),
);

interface Integrations {
  readonly integration: IntegrationClient;
}

export interface DryRunDependencies extends Integrations {
  /** Each developer has a separate budget. */
  readonly dryRunBudgets: ByteBudgets;
}

/**
 * The bytes of dry runs per developer and second, in each process. They allow two samples of the
 * largest size at once, and then more than one such sample a second.
 */
export const DRY_RUN_BYTES_PER_SECOND = 1.5 * MAX_BODY_BYTES;
/**
 * The cost of a dry run in addition to its descriptor and its sample. It is about the cost of
 * reading a descriptor.
 */
const DRY_RUN_BYTES = 16 * KIB;
const SECOND_MS = 1_000;

export const dryRunDescriptor = defineDeveloperRoute({
  method: 'post',
  path: '/integrations/dry-run',
  name: 'dryRunDescriptor',
  summary: 'Dry-run a descriptor on a sample',
  description: `A dry run stores and settles nothing. A developer has ${DRY_RUN_BYTES_PER_SECOND / KIB} KiB a second, and may use two seconds of it at once. Each dry run counts as its descriptor, its sample and ${DRY_RUN_BYTES / KIB} KiB. Beyond that the response is 429, whose \`limit\` is bytes a second.`,
  body: dryRun,
  // These members are kept as the text that was sent, with every digit of a number and in the order
  // of members, as in a push.
  verbatim: { descriptor: MAX_BODY_BYTES, sample: MAX_BODY_BYTES },
  success: { status: 200, description: 'Each record, or the pointer that failed.', schema: dryRunSchema },
  refusals: { invalid_request: 'The body does not match its schema, or the descriptor is not valid.' },
  run: async ({ caller, body, verbatim, options }, { integration, dryRunBudgets }: DryRunDependencies) => {
    const { descriptor: descriptorJson = '', sample: sampleJson = '' } = verbatim;
    const limited = limitDryRun(dryRunBudgets, caller.developerId, descriptorJson.length + sampleJson.length);
    if (limited !== null) return limited;
    const read = await integration.dryRun(
      { transport: TRANSPORTS[body.transport], descriptorJson, sampleJson },
      { ...options, retryLostReply: true },
    );
    return isRefused(read) ? read : presentDryRun(read);
  },
});

/** Takes what the dry run costs from the developer's budget; answers 429 if too little is left. */
function limitDryRun(budgets: ByteBudgets, developerId: string, sentBytes: number) {
  const now = Date.now();
  const bytes = DRY_RUN_BYTES + sentBytes;
  const waitMs = budgets.waitFor(developerId, bytes, now);
  if (waitMs > 0) {
    const resetAt = new Date(now + waitMs);
    const retryAfterSeconds = Math.ceil(waitMs / SECOND_MS);
    return tooManyRequests({ limit: DRY_RUN_BYTES_PER_SECOND, retryAfterSeconds, resetAt });
  }
  budgets.take(developerId, bytes, now);
  return null;
}

export const listIntegrationLog = defineDeveloperRoute({
  method: 'get',
  path: '/integrations/{integrationId}/log',
  name: 'listIntegrationLog',
  summary: 'List the pushes and polls of an integration and the result of each record',
  description: 'The log keeps entries for 7 days.',
  params: z.object({ integrationId: pathId }),
  query: logPage,
  success: { status: 200, description: 'Newest first.', schema: logSchema },
  run: ({ caller: { developerId }, params: { integrationId }, query, options }, { integration }: Integrations) =>
    readLog(integration, { developerId, integrationId }, query, options),
});

/**
 * Reads a page of an integration's log. If a program is named, the integration must be the
 * program's.
 */
export async function readLog(
  integration: IntegrationClient,
  of: { readonly developerId: string; readonly programId?: string; readonly integrationId: string },
  {
    cursor = '',
    limit = MAX_LOG_PAGE_ROWS,
  }: { readonly cursor?: string | undefined; readonly limit?: number | undefined },
  options: Call<unknown, unknown, unknown, unknown>['options'],
): Promise<Answer> {
  const listed = await integration.listLog({ ...of, cursor, limit }, { ...options, retryLostReply: true });
  if (isRefused(listed)) return listed;
  return { body: { data: listed.entries.map(presentLogEntry), next_cursor: listed.nextCursor || null } };
}
