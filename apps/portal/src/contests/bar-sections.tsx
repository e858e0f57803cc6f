/** The progress of a bar: the calibration that places it, and the ramp that confirms it. */
import type { ReactNode } from 'react';
import type { CalibrationState, OperatorChallenge, RampState } from '../api/api-types.ts';
import { formatCount, formatScore } from '../kit/format.ts';
import { Money } from '../kit/money.tsx';
import { Section } from '../kit/page.tsx';
import { Progress } from '../kit/progress.tsx';
import { Time } from '../kit/time.tsx';

/**
 * If at most this many players are required, one of them may give all scores:
 * docs/contract/rules.md, "Calibration".
 */
const MOST_PLAYERS_WITHOUT_SHARE = 2;

interface CalibrationSectionProps {
  readonly calibration: CalibrationState;
  readonly challenge: OperatorChallenge;
}

export function CalibrationSection({ calibration, challenge }: CalibrationSectionProps): ReactNode {
  const { collected, required, players_collected, players_required, bar_so_far } = calibration;
  return (
    <Section title="Calibration">
      <div className="panel">
        <Progress label="Scores" value={collected} required={required} />
        <Progress label="Players" value={players_collected} required={players_required} />
        <p className="muted">
          {bar_so_far === null
            ? 'Once both are complete, the scores place the bar and the challenge is live.'
            : `The scores so far would place the bar at ${formatScore(bar_so_far)} ${challenge.metric_unit}. It is placed once both are complete.`}{' '}
          {players_required > MOST_PLAYERS_WITHOUT_SHARE &&
            'A player’s scores count up to a fair share, so a few players cannot complete it.'}
        </p>
      </div>
    </Section>
  );
}

export function RampSection({ ramp }: { readonly ramp: RampState }): ReactNode {
  const { full_prize, offered_prize, attempts_seen, attempts_required, completed_at } = ramp;
  return (
    <Section title="Ramp">
      <div className="panel">
        <Progress label="Settled paid attempts" value={attempts_seen} required={attempts_required} />
        <p className="muted">
          {completed_at === null ? (
            <>
              The prize on offer is <Money amount={offered_prize} /> until {formatCount(attempts_required)} paid
              attempts have settled and confirm the bar. Then it rises to <Money amount={full_prize} /> automatically.
            </>
          ) : (
            <>
              Completed <Time at={completed_at} />: the full prize of <Money amount={full_prize} /> is on offer.
            </>
          )}
        </p>
      </div>
    </Section>
  );
}
