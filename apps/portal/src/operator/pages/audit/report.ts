/** How a report of the audit reads. */
import type { AuditCheck, AuditReport } from '../../../api/api-types.ts';
import { formatCount } from '../../../kit/format.ts';

/** Broken rules of real money first, then broken rules of play money, then the rules that hold. */
export function inOrderOfHarm(checks: readonly AuditCheck[]): readonly AuditCheck[] {
  const harm = ({ violations, violations_by_environment: { live } }: AuditCheck) =>
    live > 0 ? 2 : violations > 0 ? 1 : 0;
  return checks.toSorted((one, other) => harm(other) - harm(one));
}

/** "Every money rule holds." and what was checked, or how many rules are broken. */
export function verdictOf({ ok, live_ok: isLiveOk, checks }: AuditReport): { title: string; text: string } {
  const broken = checks.filter(({ violations }) => violations > 0).length;
  const rules = (count: number) => `${formatCount(count)} ${count === 1 ? 'rule' : 'rules'}`;
  if (ok) {
    return { title: 'Every money rule holds', text: `${rules(checks.length)}, over every attempt and every transfer.` };
  }
  if (isLiveOk) {
    return {
      title: `Play money breaks ${rules(broken)}`,
      text: 'No row of real money does. A bug all the same: the same code moves real money.',
    };
  }
  const live = checks.filter(({ violations_by_environment: found }) => found.live > 0).length;
  return {
    title: `Real money breaks ${rules(live)}`,
    text: 'Do not correct rows by hand. The examples are where to begin.',
  };
}
