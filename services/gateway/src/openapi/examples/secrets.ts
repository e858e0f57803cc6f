import { recordedResponse } from './partner-examples.ts';

/**
 * A secret in the form that a developer sees once, when creating an endpoint. It signs only the
 * examples, and belongs to no endpoint.
 */
export const EXAMPLE_WEBHOOK_SECRET = 'whsec_c2e4b61a8fcc4a6779a16d478ed495c953a8570d87467c05eaac1362995464bb';

/**
 * The secret that the examples of integrations show: its 64 characters are the key. It signs only
 * the examples, and belongs to no integration.
 */
export const EXAMPLE_SIGNING_SECRET = recordedResponse<{ signing_secret: string }>(
  'createIntegration',
  'canonical',
).signing_secret;
