import type { OwningServices } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentReceipt } from '../../presenters/receipt.ts';
import { component } from '../component.ts';
import { pathId } from '../fields.ts';
import { defineOperatorRoute } from './route.ts';

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

const receiptSchema = component(
  'Receipt',
  z.object({
    receipt: document,
    ...signed,
    seal: seal.optional().openapi({ description: 'Present for an outcome in a round, once the round is settled.' }),
  }),
);

export const getReceipt = defineOperatorRoute({
  method: 'get',
  path: '/receipts/{receiptId}',
  name: 'getReceipt',
  summary: 'Read the signed record of an outcome',
  description:
    '`npm run verify-receipt` verifies it. The response has the public key, and the `seal` once the round is settled.',
  params: z.object({ receiptId: pathId }),
  success: { status: 200, description: 'The receipt.', schema: receiptSchema },
  run: async ({ params: { receiptId }, options }, { challenge, tournament }: OwningServices) => {
    // A receipt's id does not name its contest service.
    const asked = await challenge.getReceipt({ receiptId }, options);
    const isElsewhere = isRefused(asked) && asked.code === 'not_found';
    const found = isElsewhere ? await tournament.getReceipt({ receiptId }, options) : asked;
    return isRefused(found) ? found : presentReceipt(found);
  },
});
