import type { OwningServices } from '@laurel/attempts/client';
import { isRefused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentReceipt } from '../../presenters/receipt.ts';
import { component } from '../component.ts';
import { pathId } from '../fields.ts';
import { defineOperatorRoute } from './route.ts';

const document = z.record(z.string(), z.unknown());
const signed = {
  signature: z.string().openapi({ description: 'Ed25519, in base64.' }),
  public_key: z.string().openapi({ description: 'SPKI DER in base64.' }),
};

const seal = component(
  'Seal',
  z.object({
    statement: document,
    ...signed,
    leaf: document,
    leaf_index: z.int(),
    proof: z.array(z.string()).openapi({ description: 'The siblings on the way to the root, from the leaf.' }),
  }),
);

const receiptSchema = component(
  'Receipt',
  z.object({
    receipt: document,
    ...signed,
    seal: seal.optional().openapi({ description: 'Of an outcome in a round, once the round is settled.' }),
  }),
);

export const getReceipt = defineOperatorRoute({
  method: 'get',
  path: '/receipts/{receiptId}',
  name: 'getReceipt',
  summary: 'The signed record of an outcome, for `npm run verify-receipt`',
  description: 'With the public key that verifies it, and from the settlement of its round on with the `seal`.',
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
