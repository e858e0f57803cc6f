/**
 * The terms of a challenge and of a tournament, each at its bounds (docs/contract/portal-api.md).
 * The services check the rules that relate terms, and test them there.
 */
import { describe, expect, test } from 'vitest';
import { createChallenge } from './challenges.ts';
import { CHALLENGE_TERMS } from './terms.fixture.ts';
import { createTournament } from './tournaments.ts';

const TOURNAMENT = {
  environment: 'test',
  name: 'Cup',
  metric_name: 'score',
  metric_unit: 'points',
  threshold_direction: 'lower_is_better',
  entry_fee: '1.00',
  attempt_cap: 1,
  purse_table: [{ rank: 1, amount: '1.00' }],
  min_entrants: 1,
};
const MILLION = 1_000_000;
const LEAP_YEAR_SECONDS = 366 * 86_400;
const text = (characters: number) => '𝄞'.repeat(characters);
const purse = (ranks: number) => Array.from({ length: ranks }, (_, index) => ({ rank: index + 1, amount: '1.00' }));

type Bounds = readonly [field: string, taken: readonly unknown[], refused: readonly unknown[]];

const takes = (route: Pick<typeof createChallenge, 'body'>, terms: object) => route.body?.safeParse(terms).success;

describe('the terms of a challenge', () => {
  test.each<Bounds>([
    ['name', [text(1), text(255)], ['', text(256), null]],
    ['description', [null, text(1), text(2_000)], ['', text(2_001)]],
    ['metric_name', [text(255)], ['', text(256)]],
    ['metric_unit', [text(255)], ['', text(256)]],
    ['fee', ['0.01'], ['0.00', 1]],
    ['prize', ['0.01', '9999.00'], ['0.00']],
    ['prize_structure', ['threshold', 'top_n'], ['lottery']],
    ['top_n', [1, MILLION], [0, 1.5, MILLION + 1]],
    ['threshold_direction', ['higher_is_better', 'lower_is_better'], ['up']],
    ['score_min', [-1e308, null], ['0']],
    ['target_pass_rate', [1e-9, 0.999], [0, 1]],
    ['integrity_tier', [1, 2, 3], [0, 4]],
    ['min_calibration_n', [1, 10_000_000], [0, 10_000_001]],
    ['min_calibration_players', [1, MILLION], [0, MILLION + 1]],
    ['daily_attempt_cap', [1, MILLION], [0, MILLION + 1]],
    ['required_verification_level', [0, 3], [-1, 4]],
    ['jurisdictions', [[], ['US-CA', 'GB'], Array(300).fill('GB')], [['California'], ['us-ca'], Array(301).fill('GB')]],
    ['status', ['calibrating', 'live'], ['suspended']],
  ])('%s', (field, taken, refused) => {
    for (const value of taken)
      expect(takes(createChallenge, { ...CHALLENGE_TERMS, [field]: value }), `${value}`).toBe(true);
    for (const value of refused)
      expect(takes(createChallenge, { ...CHALLENGE_TERMS, [field]: value }), `${value}`).toBe(false);
  });

  test('only terms with a default may be left out', () => {
    expect(createChallenge.body?.safeParse(CHALLENGE_TERMS).data).toMatchObject({
      prize_structure: 'threshold',
      min_calibration_players: 20,
      daily_attempt_cap: 10,
      required_verification_level: 0,
      jurisdictions: [],
      status: 'calibrating',
    });
    for (const field of Object.keys(CHALLENGE_TERMS))
      expect(takes(createChallenge, { ...CHALLENGE_TERMS, [field]: undefined })).toBe(false);
  });
});

describe('the terms of a tournament', () => {
  test.each<Bounds>([
    ['name', [text(255)], ['', text(256)]],
    ['description', [null, text(2_000)], ['', text(2_001)]],
    ['metric_name', [text(255)], ['', text(256)]],
    ['metric_unit', [text(255)], ['', text(256)]],
    ['entry_fee', ['0.01'], ['0.00']],
    ['attempt_cap', [1, MILLION], [0, MILLION + 1]],
    ['purse_table', [purse(5_000)], [[], purse(5_001), [{ rank: 1, amount: '0.00' }]]],
    ['min_entrants', [1, MILLION], [0, MILLION + 1]],
    ['min_scored_attempts', [0, MILLION], [-1, MILLION + 1]],
    ['round_length_seconds', [660, LEAP_YEAR_SECONDS, null], [LEAP_YEAR_SECONDS + 1]],
    ['tiebreak_metric_name', [null], ['moves']],
    ['tiebreak_direction', [null], ['lower_is_better']],
  ])('%s', (field, taken, refused) => {
    for (const value of taken) expect(takes(createTournament, { ...TOURNAMENT, [field]: value })).toBe(true);
    for (const value of refused) expect(takes(createTournament, { ...TOURNAMENT, [field]: value })).toBe(false);
  });

  test('only terms with a default may be left out', () => {
    expect(createTournament.body?.safeParse(TOURNAMENT).data).toMatchObject({ min_scored_attempts: 0 });
    for (const field of Object.keys(TOURNAMENT)) {
      expect(takes(createTournament, { ...TOURNAMENT, [field]: undefined })).toBe(false);
    }
  });
});
