import { isRefused, refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { TRANSPORTS } from '@laurel/proto/enum-names';
import { Transport } from '@laurel/proto/integration';
import { MAX_DESCRIPTOR_BYTES, MIN_POLL_INTERVAL_SECONDS } from '@laurel/values/limits';
import type { IntegrationClient } from '../../clients/integration.ts';
import { announceProgram } from '../../clients/program-facts.ts';
import { presentIntegration } from '../../presenters/integration.ts';
import { findProgramFacts } from '../../repository/programs.ts';
import { createdIntegrationSchema, createIntegrationBody } from './integration-schemas.ts';
import { defineTenantRoute } from './route.ts';

const SIGNING_INSTRUCTIONS = [
  'Send each outcome by POST to webhook_url with the header X-Service-Signature: "sha256=" and the HMAC-SHA256 of the raw request body in',
  'hex, in either case. The key is the UTF-8 bytes of all 64 characters of signing_secret as they stand here: do not decode them.',
  'Sign the exact bytes that you send, and send no compressed body.',
].join(' ');

export const createIntegration = defineTenantRoute({
  method: 'post',
  path: '/integrations',
  name: 'createIntegration',
  summary: 'Create an integration',
  description:
    'A new integration is always a `draft`. For `push_webhook` the response also has `webhook_url`, `signing_instructions` and `signing_secret`, which is shown only once. The route takes no `Idempotency-Key`.',
  body: createIntegrationBody,
  verbatim: { descriptor: MAX_DESCRIPTOR_BYTES },
  success: { status: 201, description: 'The draft.', schema: createdIntegrationSchema },
  refusals: {
    invalid_request: `The transport is unknown; the descriptor breaks its rules; the interval is below ${MIN_POLL_INTERVAL_SECONDS} or not a whole number; the URL to poll is unsafe; the program would have more integrations than it may.`,
  },
  run: async (
    { caller, body, verbatim, options },
    { database, integration }: { database: Database; integration: IntegrationClient },
  ) => {
    // The integration service creates an integration only for a program that it knows. The gateway
    // announces every new program to it, but may never have announced programs that are older than
    // that service.
    const facts = await findProgramFacts(database, caller.tenant.programId);
    if (isRefused(facts)) return facts;
    await announceProgram(integration, facts, options);
    const created = await integration.createIntegration(
      {
        tenant: caller.tenant,
        transport: TRANSPORTS[body.transport],
        descriptorJson: verbatim.descriptor ?? '{}',
        pullIntervalSeconds: body.pull_interval_seconds,
      },
      options,
    );
    if (isRefused(created)) {
      // The closed set of codes of the integration routes has no 409.
      return created.code === 'conflict' ? refused('invalid_request', created.message) : created;
    }
    const { integration: draft, signingSecret } = created;
    return draft?.transport === Transport.PUSH_WEBHOOK
      ? presentIntegration(draft, {
          signing_secret: signingSecret,
          webhook_url: `/webhooks/integrations/${draft.id}/outcome`,
          signing_instructions: SIGNING_INSTRUCTIONS,
        })
      : presentIntegration(draft);
  },
});
