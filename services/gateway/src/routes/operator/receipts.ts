import type { OwningServices } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { z } from '../../http/zod.ts';
import { presentReceipt } from '../../presenters/receipt.ts';
import { pathId } from '../fields.ts';
import { receiptSchema } from '../receipts.ts';
import { defineOperatorRoute } from './route.ts';

export const getReceipt = defineOperatorRoute({
  method: 'get',
  path: '/receipts/{receiptId}',
  name: 'getReceipt',
  summary: 'Read the signed record of an outcome',
  description:
    '`npm run verify-receipt` verifies it. The response has the public key, and the `seal` once the round is settled. The receipt of an archived attempt is `not_found`, and the message says that it is only in the archive.',
  params: z.object({ receiptId: pathId }),
  success: { status: 200, description: 'The receipt.', schema: receiptSchema },
  run: async ({ params: { receiptId }, options }, { challenge, tournament }: OwningServices) => {
    // A receipt's id does not name its contest service.
    const asked = await challenge.getReceipt({ receiptId }, options);
    const isElsewhere = isRefused(asked) && asked.code === 'not_found';
    const found = isElsewhere ? await tournament.getReceipt({ receiptId }, options) : asked;
    if (!isRefused(found)) return presentReceipt(found);
    // The service that archived the receipt says so in its message.
    const isArchived = found.message !== refused('not_found').message;
    return found.code === 'not_found' && !isArchived && isRefused(asked) ? asked : found;
  },
});
