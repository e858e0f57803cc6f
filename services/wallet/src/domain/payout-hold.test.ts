import { readFileSync } from 'node:fs';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideHold,
  NO_PAYOUTS,
  NO_PROGRAM_LIMIT,
  type ProgramPayouts,
  type WinKind,
  withPayout,
  withProgramPayout,
} from './payout-hold.ts';

const limits = { count: 5, amountCents: cents(500_00n) };
const clean = {
  kind: 'award' as const,
  enforcementFlag: false,
  underInvestigation: false,
  sandboxHold: false,
  recent: NO_PAYOUTS,
  program: NO_PROGRAM_LIMIT,
  amountCents: cents(10_00n),
  limits,
};

it('the operators’ guide lists exactly the hold reasons that the database accepts', () => {
  const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
  const [, accepted = ''] =
    /payouts_reason_is_known CHECK .*'\{([\w,]+)\}'/.exec(read('services/wallet/schema.sql')) ?? [];
  const [, stated = ''] = /`reason` \(why it was held:([^;]+);/.exec(read('docs/contract/portal-api.md')) ?? [];
  expect(accepted).toContain('program_velocity');
  const names = [...stated.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(names.toSorted()).toEqual(accepted.split(',').toSorted());
});

describe('decideHold', () => {
  it('a win of an account without flags is paid', () => {
    expect(decideHold(clean)).toBeNull();
  });

  it('a win is held for an enforcement flag, an open investigation and the sandbox’s “hold the next award”', () => {
    expect(decideHold({ ...clean, enforcementFlag: true })).toBe('enforcement_flag');
    expect(decideHold({ ...clean, underInvestigation: true })).toBe('under_investigation');
    expect(decideHold({ ...clean, sandboxHold: true })).toBe('sandbox_hold');
  });

  it('a hold reason of the contest service takes precedence over every other rule', () => {
    const facts = fc.record({
      enforcementFlag: fc.boolean(),
      underInvestigation: fc.boolean(),
      sandboxHold: fc.boolean(),
      recent: fc.record({ count: fc.nat(10), amountCents: fc.bigInt({ min: 0n, max: 1_000_00n }).map(cents) }),
      amountCents: fc.bigInt({ min: 1n, max: 1_000_00n }).map(cents),
    });
    fc.assert(
      fc.property(facts, (any) => {
        expect(decideHold({ ...clean, ...any, contestServiceHold: 'challenge_suspended' })).toBe('challenge_suspended');
      }),
    );
  });

  it('the fifth win in 24 hours is paid and the sixth is held', () => {
    expect(decideHold({ ...clean, recent: { count: 4, amountCents: cents(40_00n) } })).toBeNull();
    expect(decideHold({ ...clean, recent: { count: 5, amountCents: cents(50_00n) } })).toBe('payout_velocity');
  });

  it('a win is paid up to exactly 500.00 in 24 hours and held above', () => {
    const recent = { count: 1, amountCents: cents(450_00n) };
    expect(decideHold({ ...clean, recent, amountCents: cents(50_00n) })).toBeNull();
    expect(decideHold({ ...clean, recent, amountCents: cents(50_01n) })).toBe('payout_velocity');
  });
});

describe('decideHold of a purse', () => {
  const purse = { ...clean, kind: 'purse' as const };

  it('a purse of an account without flags is paid', () => {
    expect(decideHold(purse)).toBeNull();
  });

  it('a purse is held for an enforcement flag, an open investigation and the sandbox’s “hold the next award”', () => {
    expect(decideHold({ ...purse, enforcementFlag: true })).toBe('enforcement_flag');
    expect(decideHold({ ...purse, underInvestigation: true })).toBe('under_investigation');
    expect(decideHold({ ...purse, sandboxHold: true })).toBe('sandbox_hold');
  });

  it('a purse is paid even if it exceeds the payout velocity', () => {
    expect(decideHold({ ...purse, recent: { count: 5, amountCents: cents(50_00n) } })).toBeNull();
    expect(decideHold({ ...purse, amountCents: cents(500_01n) })).toBeNull();
  });

  it('a paid purse counts towards the velocity of later awards', () => {
    const recent = withPayout(NO_PAYOUTS, cents(500_00n));
    expect(decideHold({ ...purse, recent })).toBeNull();
    expect(decideHold({ ...clean, recent, amountCents: cents(1n) })).toBe('payout_velocity');
  });
});

describe('program velocity', () => {
  const program: ProgramPayouts = { paidCents: cents(4_990_00n), limitCents: cents(5_000_00n) };

  it('an award is paid up to exactly the limit of its program and held above', () => {
    expect(decideHold({ ...clean, program, amountCents: cents(10_00n) })).toBeNull();
    expect(decideHold({ ...clean, program, amountCents: cents(10_01n) })).toBe('program_velocity');
  });

  it('a purse is never held on program velocity, but counts towards it', () => {
    const full = withProgramPayout(program, cents(10_00n));
    expect(decideHold({ ...clean, kind: 'purse', program: full })).toBeNull();
    expect(decideHold({ ...clean, program: full, amountCents: cents(1n) })).toBe('program_velocity');
  });

  it('a limit of zero holds every award of its program', () => {
    expect(decideHold({ ...clean, program: { paidCents: cents(0n), limitCents: cents(0n) } })).toBe('program_velocity');
  });

  it('a reason about the player takes precedence over the program’s limit', () => {
    const full = { ...clean, program: { paidCents: cents(0n), limitCents: cents(0n) } };
    expect(decideHold({ ...full, underInvestigation: true })).toBe('under_investigation');
    expect(decideHold({ ...full, recent: { count: 5, amountCents: cents(0n) } })).toBe('payout_velocity');
  });

  it('the awards of all players together never exceed the limit of their program', () => {
    const amounts = fc.array(fc.bigInt({ min: 1n, max: 500_00n }).map(cents), { maxLength: 40 });
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: 0n, max: 3_000_00n }).map(cents), (wins, limitCents) => {
        let paid: ProgramPayouts = { paidCents: cents(0n), limitCents };
        for (const amountCents of wins) {
          if (decideHold({ ...clean, program: paid, amountCents }) === null)
            paid = withProgramPayout(paid, amountCents);
        }
        expect(paid.paidCents).toBeLessThanOrEqual(limitCents);
      }),
    );
  });
});

describe('properties of payout velocity', () => {
  it('a purse is held for the same reasons as an award, except payout velocity', () => {
    fc.assert(
      fc.property(
        fc.record({ enforcementFlag: fc.boolean(), underInvestigation: fc.boolean(), sandboxHold: fc.boolean() }),
        fc.record({ count: fc.nat(8), amountCents: fc.bigInt({ min: 0n, max: 600_00n }).map(cents) }),
        fc.bigInt({ min: 1n, max: 600_00n }).map(cents),
        (flags, recent, amountCents) => {
          const [award, purse] = (['award', 'purse'] as const).map((kind: WinKind) =>
            decideHold({ ...flags, kind, recent, program: NO_PROGRAM_LIMIT, amountCents, limits }),
          );
          expect(purse).not.toBe('payout_velocity');
          expect(purse).toBe(award === 'payout_velocity' ? null : award);
        },
      ),
    );
  });

  it('payouts in one window never exceed the limits, whatever the wins', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 1n, max: 600_00n }), { maxLength: 30 }), (amounts) => {
        let recent = NO_PAYOUTS;
        for (const amount of amounts) {
          const held = decideHold({ ...clean, recent, amountCents: cents(amount) });
          if (held === null) recent = withPayout(recent, cents(amount));
        }
        expect(recent.count).toBeLessThanOrEqual(limits.count);
        expect(recent.amountCents).toBeLessThanOrEqual(limits.amountCents);
      }),
    );
  });

  it('a held win would still be held after more payouts', () => {
    const amounts = fc.bigInt({ min: 1n, max: 600_00n }).map(cents);
    fc.assert(
      fc.property(fc.nat(8), amounts, amounts, amounts, (count, paid, more, amountCents) => {
        const recent = { count, amountCents: paid };
        if (decideHold({ ...clean, recent, amountCents }) === null) return;
        expect(decideHold({ ...clean, recent: withPayout(recent, more), amountCents })).toBe('payout_velocity');
      }),
    );
  });
});
