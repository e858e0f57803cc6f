/** A receipt as operators and developers read it. */
import { z } from '../http/zod.ts';
import { component } from './component.ts';

const document = z.record(z.string(), z.unknown());
const signed = {
  signature: z.string().openapi({ description: 'The Ed25519 signature, in base64.' }),
  public_key: z.string().openapi({ description: 'The key that verifies the signature: SPKI DER, in base64.' }),
};

const seal = component(
  'Seal',
  z.object({
    statement: document,
    ...signed,
    leaf: document,
    leaf_index: z.int(),
    proof: z.array(z.string()).openapi({ description: 'The sibling hashes on the path from the leaf to the root.' }),
  }),
);

export const receiptSchema = component(
  'Receipt',
  z.object({
    receipt: document,
    ...signed,
    seal: seal.optional().openapi({ description: 'Present for an outcome in a round, once the round is settled.' }),
  }),
);
