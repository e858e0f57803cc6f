import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STANDING } from './example.ts';
import { decideStanding, isOfAge, type Requirement, type Standing } from './standing.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const rules = { minimumAgeYears: 18, servedJurisdictions: ['US-CA', 'US-NY'] };
const nothingMore: Requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: false };

function decide(
  standing: Partial<Standing>,
  requirement: Partial<Requirement> = {},
  environment: 'test' | 'live' = 'live',
) {
  return decideStanding({
    standing: { ...STANDING, ...standing },
    requirement: { ...nothingMore, ...requirement },
    environment,
    rules,
    now,
  });
}

describe('decideStanding', () => {
  it('lets a grown-up in a served jurisdiction play', () => {
    expect(decide({})).toBeNull();
  });

  it('blocks an enforcement block', () => {
    expect(decide({ blocked: true })).toBe('blocked');
  });

  it('blocks the self-excluded until the instant at which the exclusion ends', () => {
    expect(decide({ selfExcludedUntil: new Date(now.getTime() + 1) })).toBe('blocked');
    expect(decide({ selfExcludedUntil: now })).toBeNull();
  });

  it('blocks the under-aged, in test too', () => {
    expect(decide({ dateOfBirth: '2008-11-22' }, {}, 'test')).toBe('blocked');
    expect(decide({ dateOfBirth: '2008-11-21' }, {}, 'test')).toBeNull();
  });

  it('blocks a verification level below the contest’s', () => {
    expect(decide({ verificationLevel: 1 }, { verificationLevel: 2 })).toBe('blocked');
    expect(decide({ verificationLevel: 2 }, { verificationLevel: 2 })).toBeNull();
  });

  it('blocks a jurisdiction that the service or the contest does not serve, in live only', () => {
    expect(decide({ jurisdiction: 'US-WA' })).toBe('blocked');
    expect(decide({}, { jurisdictions: ['US-NY'] })).toBe('blocked');
    expect(decide({ jurisdiction: 'US-WA' }, { jurisdictions: ['US-NY'] }, 'test')).toBeNull();
  });

  it('refuses insiders only when the contest does, and in live only', () => {
    expect(decide({ insider: true }, { refuseInsiders: true })).toBe('insider_entry');
    expect(decide({ insider: true })).toBeNull();
    expect(decide({ insider: true }, { refuseInsiders: true }, 'test')).toBeNull();
  });

  it('says blocked of an insider who is blocked as well', () => {
    expect(decide({ insider: true, blocked: true }, { refuseInsiders: true })).toBe('blocked');
  });
});

describe('the laws of standing', () => {
  const standings = fc.record({
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

  it('a player whom live lets play is let play in test', () => {
    fc.assert(
      fc.property(standings, requirements, (standing, requirement) => {
        if (decide(standing, requirement, 'live') === null) expect(decide(standing, requirement, 'test')).toBeNull();
      }),
    );
  });

  it('demanding less never blocks more', () => {
    fc.assert(
      fc.property(standings, requirements, (standing, requirement) => {
        if (decide(standing, requirement) === null) expect(decide(standing, nothingMore)).toBeNull();
      }),
    );
  });

  it('once of age, always of age', () => {
    const days = fc.date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(standings, days, fc.nat(), ({ dateOfBirth }, day, later) => {
        if (isOfAge(dateOfBirth, 18, day)) expect(isOfAge(dateOfBirth, 18, new Date(day.getTime() + later))).toBe(true);
      }),
    );
  });

  it('a leap-day child is of age on 1 March', () => {
    expect(isOfAge('2004-02-29', 18, new Date('2022-02-28T23:59:59.999Z'))).toBe(false);
    expect(isOfAge('2004-02-29', 18, new Date('2022-03-01T00:00:00.000Z'))).toBe(true);
  });
});
