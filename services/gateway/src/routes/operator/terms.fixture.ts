/** The body of an operator who opens a challenge: the members without a default. */
export const CHALLENGE_TERMS = {
  environment: 'test',
  name: 'Sprint',
  fee: '1.00',
  prize: '4.00',
  metric_name: 'score',
  metric_unit: 'points',
  threshold_direction: 'higher_is_better',
  target_pass_rate: 0.2,
  integrity_tier: 1,
};
