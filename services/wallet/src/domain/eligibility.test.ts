import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideEligibility, type EligibilityFacts, isOfAge, type Requirement } from './eligibility.ts';
import { ELIGIBLE } from './example.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const rules = { minimumAgeYears: 18, servedJurisdictions: ['US-CA', 'US-NY'] };
const nothingMore: Requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: false };

function decide(
  eligibility: Partial<EligibilityFacts>,
  requirement: Partial<Requirement> = {},
  environment: 'test' | 'live' = 'live',
) {
  return decideEligibility({
    eligibility: { ...ELIGIBLE, ...eligibility },
    requirement: { ...nothingMore, ...requirement },
    environment,
    rules,
    now,
  });
}

describe('decideEligibility', () => {
  it('an adult in a served jurisdiction is eligible', () => {
    expect(decide({})).toBeNull();
  });

  it('a player under an enforcement block is blocked', () => {
    expect(decide({ blocked: true })).toBe('blocked');
  });

  it('a self-excluded player is blocked until the instant at which the exclusion ends', () => {
    expect(decide({ selfExcludedUntil: new Date(now.getTime() + 1) })).toBe('blocked');
    expect(decide({ selfExcludedUntil: now })).toBeNull();
  });

  it('a self-exclusion that ends after the year 9999 blocks the player', () => {
    expect(decide({ selfExcludedUntil: new Date('9999-12-31T23:59:59-05:00') })).toBe('blocked');
    expect(() => decide({ selfExcludedUntil: new Date(Number.NaN) })).toThrow(RangeError);
  });

  it('a player whose birthday would fall in a year of five digits is not of age', () => {
    for (const years of [7_990, 8_010, 9_000, 98_010]) expect(isOfAge('1990-01-01', years, now)).toBe(false);
  });

  it('a date of birth that is not a calendar day throws, even if it would compare as old enough', () => {
    for (const dateOfBirth of ['', 'infinity', '10000-01-01', '0001-01-01 BC']) {
      expect(() => decide({ dateOfBirth })).toThrow(RangeError);
    }
  });

  it('a player under age is blocked in test too', () => {
    expect(decide({ dateOfBirth: '2008-11-22' }, {}, 'test')).toBe('blocked');
    expect(decide({ dateOfBirth: '2008-11-21' }, {}, 'test')).toBeNull();
  });

  it('a player below the contest’s verification level is blocked', () => {
    expect(decide({ verificationLevel: 1 }, { verificationLevel: 2 })).toBe('blocked');
    expect(decide({ verificationLevel: 2 }, { verificationLevel: 2 })).toBeNull();
  });

  it('a jurisdiction that the service or the contest does not serve blocks a player in live only', () => {
    expect(decide({ jurisdiction: 'US-WA' })).toBe('blocked');
    expect(decide({}, { jurisdictions: ['US-NY'] })).toBe('blocked');
    expect(decide({ jurisdiction: 'US-WA' }, { jurisdictions: ['US-NY'] }, 'test')).toBeNull();
  });

  it('an insider is refused only in live, by a contest that refuses insiders', () => {
    expect(decide({ insider: true }, { refuseInsiders: true })).toBe('insider_entry');
    expect(decide({ insider: true })).toBeNull();
    expect(decide({ insider: true }, { refuseInsiders: true }, 'test')).toBeNull();
  });

  it('an insider who is also blocked is refused with blocked', () => {
    expect(decide({ insider: true, blocked: true }, { refuseInsiders: true })).toBe('blocked');
  });
});

describe('properties of eligibility', () => {
  const persons = fc.record({
    dateOfBirth: fc
      .date({ min: new Date('1930-01-01'), max: new Date('2020-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10)),
    jurisdiction: fc.constantFrom('US-CA', 'US-NY', 'US-WA', 'FR'),
    verificationLevel: fc.integer({ min: 0, max: 3 }),
    selfExcludedUntil: fc.option(
      fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }),
    ),
    blocked: fc.boolean(),
    insider: fc.boolean(),
  });
  const requirements = fc.record({
    verificationLevel: fc.integer({ min: 0, max: 3 }),
    jurisdictions: fc.subarray(['US-CA', 'US-NY', 'US-WA']),
    refuseInsiders: fc.boolean(),
  });

  it('a player who is eligible in live is eligible in test', () => {
    fc.assert(
      fc.property(persons, requirements, (eligibility, requirement) => {
        if (decide(eligibility, requirement, 'live') === null)
          expect(decide(eligibility, requirement, 'test')).toBeNull();
      }),
    );
  });

  it('a weaker requirement never blocks more players', () => {
    fc.assert(
      fc.property(persons, requirements, (eligibility, requirement) => {
        if (decide(eligibility, requirement) === null) expect(decide(eligibility, nothingMore)).toBeNull();
      }),
    );
  });

  it('a player who is of age stays of age', () => {
    const days = fc.date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(persons, days, fc.nat(), ({ dateOfBirth }, day, later) => {
        if (isOfAge(dateOfBirth, 18, day)) expect(isOfAge(dateOfBirth, 18, new Date(day.getTime() + later))).toBe(true);
      }),
    );
  });

  it('a player born on 29 February is of age on 1 March', () => {
    expect(isOfAge('2004-02-29', 18, new Date('2022-02-28T23:59:59.999Z'))).toBe(false);
    expect(isOfAge('2004-02-29', 18, new Date('2022-03-01T00:00:00.000Z'))).toBe(true);
  });
});
