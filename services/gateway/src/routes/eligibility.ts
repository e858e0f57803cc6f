/**
 * The facts that decide whether an account may pay for attempts, and whether its prizes are held.
 */
import { z } from '../http/zod.ts';
import { instant } from './fields.ts';

export const eligibilityChange = {
  self_excluded_until: instant.nullable().optional().openapi({ description: 'Null ends a self-exclusion.' }),
  enforcement_flag: z.boolean().optional(),
  under_investigation: z.boolean().optional(),
};

/** The facts as the wallet takes them. The wallet leaves absent facts unchanged. */
export function toEligibility(body: z.output<z.ZodObject<typeof eligibilityChange>>) {
  return {
    selfExcludedUntil: body.self_excluded_until ?? undefined,
    clearSelfExclusion: body.self_excluded_until === null,
    enforcementFlag: body.enforcement_flag,
    underInvestigation: body.under_investigation,
  };
}
