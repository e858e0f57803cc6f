import { newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { createAttemptExpirer } from './expire-attempts.ts';

type Deps = Parameters<typeof createAttemptExpirer>[0];

/** An expirer whose reads of attempts fail, and one refund of which is due. */
function withFailingReads(refundFee: () => Promise<void>) {
  const due = { id: newOwnedId('challenge'), feeGeneration: 0, reason: 'expired', environment: 'live' };
  const deps = {
    contestService: 'challenge',
    contest: { refunds: { loadNext: async () => [due] } },
    database: {
      query: () => Promise.reject(new Error('no attempt can be read')),
      transaction: (work: (tx: unknown) => Promise<unknown>) => work({ query: async () => [] }),
    },
    wallet: { refundFee },
    outbox: { publish: () => {} },
    attemptTtlMs: 1,
  } as unknown as Deps;
  return createAttemptExpirer(deps);
}

describe('a run of the sweep that expires attempts', () => {
  it('a run posts the refunds that are due even if no attempt can be expired', async () => {
    let refunds = 0;
    const expirer = withFailingReads(async () => {
      refunds += 1;
    });
    await expect(expirer.runOnce(new Date())).rejects.toThrow('no attempt can be read');
    expect(refunds).toBe(1);
  });

  it('a run whose expiry and refunds both fail throws both errors', async () => {
    const expirer = withFailingReads(() => Promise.reject(new Error('the wallet is down')));
    await expect(expirer.runOnce(new Date())).rejects.toMatchObject({
      errors: [{ message: 'no attempt can be read' }, { message: 'the wallet is down' }],
    });
  });
});
