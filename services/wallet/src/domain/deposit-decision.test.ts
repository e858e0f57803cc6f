import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideDeposit, MAX_BALANCE_CENTS } from './deposit-decision.ts';

const environment = fc.constantFrom('test' as const, 'live' as const);
const amount = fc.bigInt(1n, 99_999_999_999_999n).map(cents);

describe('decideDeposit', () => {
  it('a deposit reference is posted at most once', () => {
    const deposit = { environment: 'test', balanceCents: cents(0n), amountCents: cents(5n) } as const;
    expect(decideDeposit({ ...deposit, storedCents: null })).toBe('post');
    expect(decideDeposit({ ...deposit, storedCents: cents(5n) })).toBe('done');
    expect(decideDeposit({ ...deposit, storedCents: cents(6n) })).toMatchObject({ code: 'conflict' });
  });

  it('a repeated deposit reference is a conflict unless it names the same attempt', () => {
    const stored = {
      environment: 'live',
      balanceCents: cents(0n),
      amountCents: cents(5n),
      storedCents: cents(5n),
    } as const;
    for (const attemptId of ['one', null]) {
      for (const storedAttemptId of ['one', 'two', null]) {
        const decision = decideDeposit({ ...stored, attemptId, storedAttemptId });
        if (attemptId === storedAttemptId) expect(decision).toBe('done');
        else expect(decision).toMatchObject({ code: 'conflict' });
      }
    }
  });

  it('a repeated deposit succeeds even if the balance could not accept it again', () => {
    const full = { environment: 'test', balanceCents: MAX_BALANCE_CENTS.test, amountCents: cents(5n) } as const;
    expect(decideDeposit({ ...full, storedCents: cents(5n) })).toBe('done');
    expect(decideDeposit({ ...full, storedCents: null })).toMatchObject({ code: 'invalid_request' });
  });

  it('a deposit is posted exactly if the balance stays within the limit', () => {
    fc.assert(
      fc.property(environment, fc.bigInt(0n, 200_000_000n).map(cents), amount, (where, balanceCents, amountCents) => {
        const decision = decideDeposit({ environment: where, balanceCents, amountCents, storedCents: null });
        if (balanceCents + amountCents <= MAX_BALANCE_CENTS[where]) expect(decision).toBe('post');
        else
          expect(decision).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('at the most') });
      }),
    );
  });

  it('the deposit limits keep a house’s balance within a bigint for more deposits than anyone can make', () => {
    for (const most of Object.values(MAX_BALANCE_CENTS)) expect((2n ** 63n - 1n) / most).toBeGreaterThan(10n ** 10n);
  });
});
