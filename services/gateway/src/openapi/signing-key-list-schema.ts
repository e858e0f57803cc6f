/** The shape of the list of signing keys. */
import { z } from '../http/zod.ts';
import { component } from '../routes/component.ts';
import { timestamp } from '../routes/v1/fields.ts';

const signingKeySchema = component(
  'SigningKey',
  z.object({
    key_id: z.string().openapi({ description: 'The thumbprint of the key (RFC 7638), in base64url.' }),
    algorithm: z.literal('Ed25519'),
    public_key: z.string().openapi({ description: 'The public key: SPKI DER, in base64.' }),
    from: timestamp.openapi({ description: 'When the key was first used.' }),
    until: timestamp.nullable().openapi({
      description: 'When the key was replaced; null while it is in use. It may be a minute in the future.',
    }),
  }),
);

export const signingKeyListSchema = component('SigningKeyList', z.object({ keys: z.array(signingKeySchema) }));
