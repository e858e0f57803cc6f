import { isRefused } from '@laurel/errors';
import { TRANSPORTS } from '@laurel/proto/enum-names';
import type { IntegrationClient } from '../../clients/integration.ts';
import { z } from '../../http/zod.ts';
import { presentDryRun, presentLogEntry } from '../../presenters/integration.ts';
import { component } from '../component.ts';
import { pageOf, pathId } from '../fields.ts';
import { dryRunSchema, logSchema } from '../integrations.ts';
import { descriptor, transport } from '../v1/integration-schemas.ts';
import { definePortalRoute } from './route.ts';

/** An entry may have a hundred records. */
const MAX_ENTRIES = 100;

const dryRun = component(
  'DryRunRequest',
  z.strictObject({
    transport,
    descriptor,
    sample: z
      .unknown()
      .refine((value) => value !== undefined, 'is missing')
      .openapi({
        description: 'A body as the partner would send it, or a page as it would be fetched.',
      }),
  }),
);

interface Integrations {
  readonly integration: IntegrationClient;
}

export const dryRunDescriptor = definePortalRoute({
  method: 'post',
  path: '/integrations/dry-run',
  name: 'dryRunDescriptor',
  summary: 'What a descriptor would read from a sample',
  description: 'Nothing is stored, and nothing is settled.',
  body: dryRun,
  // As they would come: every digit of a number, and the order of members.
  verbatim: ['descriptor', 'sample'],
  success: { status: 200, description: 'Each record, or the pointer that failed.', schema: dryRunSchema },
  refusals: { invalid_request: 'The body does not fit, or the descriptor itself is not valid.' },
  run: async ({ body, verbatim, options }, { integration }: Integrations) => {
    const read = await integration.dryRun(
      {
        transport: TRANSPORTS[body.transport],
        descriptorJson: verbatim.descriptor ?? '',
        sampleJson: verbatim.sample ?? '',
      },
      { ...options, retryLostReply: true },
    );
    return isRefused(read) ? read : { json: presentDryRun(read) };
  },
});

export const listIntegrationLog = definePortalRoute({
  method: 'get',
  path: '/integrations/{integrationId}/log',
  name: 'listIntegrationLog',
  summary: 'The pushes and polls of an integration, and what became of each record',
  description: 'Kept for 7 days.',
  params: z.object({ integrationId: pathId }),
  query: z.object(pageOf(MAX_ENTRIES)),
  success: { status: 200, description: 'Newest first.', schema: logSchema },
  run: async (
    { caller: { developerId }, params: { integrationId }, query, options },
    { integration }: Integrations,
  ) => {
    const listed = await integration.listLog(
      { developerId, integrationId, cursor: query.cursor ?? '', limit: query.limit ?? MAX_ENTRIES },
      { ...options, retryLostReply: true },
    );
    if (isRefused(listed)) return listed;
    return { body: { data: listed.entries.map(presentLogEntry), next_cursor: listed.nextCursor || null } };
  },
});
