import type { ReactNode } from 'react';
import type { OperatorRoundStandings, OperatorStanding } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { formatCount, formatScore } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { Time } from '../../../kit/time.tsx';
import { RoundId } from '../../layout/item-ids.tsx';
import { WonByAttempt } from './won-by-attempt.tsx';

interface WonByRankProps {
  readonly roundId: string;
  readonly accountId: string;
}

/** The account's standing in the round, and the attempt with the account's best score. */
export function WonByRank({ roundId, accountId }: WonByRankProps): ReactNode {
  const reading = useRead<OperatorRoundStandings>(`/rounds/${roundId}/standings`, { account_id: accountId });
  return (
    <Loaded reading={reading}>
      {({ round, scored_players: scored, data: [own] }) =>
        own === undefined ? (
          <Empty title="The account has no score in the round" />
        ) : (
          <>
            <Section title="Standing">
              <Facts
                items={[
                  { label: 'Round', value: <RoundId value={round.id} /> },
                  { label: 'Tournament', value: round.tournament_name ?? '–' },
                  { label: 'Round is', value: <Status value={round.status} /> },
                  ...standingFacts(own, scored),
                ]}
              />
            </Section>
            <WonByAttempt attemptId={own.best_attempt_id} />
          </>
        )
      }
    </Loaded>
  );
}

function standingFacts(own: OperatorStanding, scored: number) {
  const { best_tiebreak: tiebreak } = own;
  return [
    { label: 'Rank', value: `${formatCount(own.final_rank ?? own.rank)} of ${formatCount(scored)}` },
    {
      label: 'Player',
      value: (
        <Id value={own.player_ref} what="player">
          <bdi>{own.player_ref}</bdi>
        </Id>
      ),
    },
    { label: 'Best score', value: formatScore(own.best_score) },
    ...(tiebreak === null ? [] : [{ label: 'Tiebreak', value: formatScore(tiebreak) }]),
    { label: 'Scored', value: <Time at={own.best_score_at} /> },
    { label: 'Paid attempts', value: formatCount(own.paid_attempts) },
    { label: 'Payout of the rank', value: <Money amount={own.payout_amount} /> },
    { label: 'Payout', value: <Status value={own.payout_status} /> },
  ];
}
