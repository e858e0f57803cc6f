import type { ReactNode } from 'react';
import type { OperatorAttempt } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { Outcome } from '../../../attempts/outcome.tsx';
import { Receipt } from '../../../attempts/receipt.tsx';
import { Timeline } from '../../../attempts/timeline.tsx';
import '../../../attempts/attempts.css';
import { Facts } from '../../../kit/facts.tsx';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { Time } from '../../../kit/time.tsx';
import { AttemptId, ChallengeId, RoundId } from '../../layout/item-ids.tsx';
import { OtherAttempts } from './other-attempts.tsx';

interface WonByAttemptProps {
  readonly attemptId: string;
  readonly accountId: string;
}

/** The attempt that won, as far as a decision needs it, and what else the player played there. */
export function WonByAttempt({ attemptId, accountId }: WonByAttemptProps): ReactNode {
  const reading = useRead<OperatorAttempt>(`/attempts/${attemptId}`);
  return <Loaded reading={reading}>{(attempt) => <Described attempt={attempt} accountId={accountId} />}</Loaded>;
}

function Described({
  attempt,
  accountId,
}: {
  readonly attempt: OperatorAttempt;
  readonly accountId: string;
}): ReactNode {
  const { challenge_id: challengeId, tournament_round_id: roundId, outcome } = attempt;
  return (
    <>
      <Section title="Attempt">
        <Facts
          items={[
            { label: 'Attempt', value: <AttemptId value={attempt.id} /> },
            {
              label: 'Player',
              value: (
                <Id value={attempt.player_ref} what="player">
                  <bdi>{attempt.player_ref}</bdi>
                </Id>
              ),
            },
            challengeId === null
              ? { label: 'Round', value: <RoundId value={roundId ?? ''} /> }
              : { label: 'Challenge', value: <ChallengeId value={challengeId} /> },
            { label: 'Fee', value: <Money amount={attempt.fee} /> },
            { label: 'Created', value: <Time at={attempt.created_at} /> },
          ]}
        />
      </Section>
      <div className="columns">
        <Section title="Timeline">
          <Timeline attempt={attempt} />
        </Section>
        <div className="page">
          <Section title="Outcome">
            <Outcome attempt={attempt} />
          </Section>
          <Section title="Other attempts there">
            <OtherAttempts of={attempt} accountId={accountId} />
          </Section>
        </div>
      </div>
      <Section title="Receipt and evidence">
        {outcome === null ? (
          <p className="muted">The receipt is signed with the outcome, and this attempt has none.</p>
        ) : (
          <Receipt attemptId={attempt.id} path={`/receipts/${outcome.receipt_id}`} />
        )}
      </Section>
    </>
  );
}
