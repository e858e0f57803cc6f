/**
 * How sure an observed pass rate is: the Wilson score interval of 95 %. It stays between 0 and 1,
 * and holds for few attempts too, also if all attempts cleared the bar or no attempt did.
 */
import type { DriftState } from './drift-monitor.ts';

/** The quantile of the normal distribution that leaves 2.5 % on either side. */
const Z = 1.959_963_984_540_054;

export type ConfidenceInterval = { readonly low: number; readonly high: number };

/** The interval that contains the true pass rate with 95 % confidence; null without attempts. */
export function passRateConfidenceInterval({ attempts, passes }: DriftState): ConfidenceInterval | null {
  if (attempts === 0) return null;
  const observed = passes / attempts;
  const perAttempt = Z ** 2 / attempts;
  const centre = observed + perAttempt / 2;
  const spread = Math.sqrt(perAttempt * (observed * (1 - observed) + perAttempt / 4));
  // Rounding must not move an end beyond the observed rate, or beyond 0 or 1.
  return {
    low: Math.max(0, Math.min(observed, (centre - spread) / (1 + perAttempt))),
    high: Math.min(1, Math.max(observed, (centre + spread) / (1 + perAttempt))),
  };
}
