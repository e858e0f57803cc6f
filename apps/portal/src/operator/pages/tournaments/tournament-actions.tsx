/**
 * The actions that change a tournament. Before an operator confirms one, its dialog states the
 * consequence.
 */
import { type ReactNode, useState } from 'react';
import type { OperatorTournament, TournamentChange, TournamentStatus } from '../../../api/api-types.ts';
import { ChangeStatusDialog } from '../../contests/change-status-dialog.tsx';
import { ActionButtons } from '../../layout/action-buttons.tsx';
import { TOURNAMENT_FACTS } from './facts.ts';
import { OpenRound } from './open-round.tsx';

type Action = 'activate' | 'pause' | 'close';

interface Call {
  readonly label: string;
  readonly status: TournamentStatus;
  readonly tone: 'primary' | 'danger';
  readonly consequence: (tournament: OperatorTournament) => string;
}

const CALLS: Readonly<Record<Action, Call>> = {
  activate: {
    label: 'Activate',
    status: 'active',
    tone: 'primary',
    consequence: (tournament) =>
      tournament.round_length_seconds === null
        ? 'An operator can open its rounds again.'
        : isRoundOpen(tournament)
          ? 'The round that is open goes on, and the next one opens when it closes.'
          : 'Its next round opens at once, and players can enter it.',
  },
  pause: {
    label: 'Pause',
    status: 'paused',
    tone: 'danger',
    consequence: (tournament) => `No further round opens until “Activate”. ${openRoundWords(tournament)}`,
  },
  close: {
    label: 'Close',
    status: 'closed',
    tone: 'danger',
    consequence: (tournament) =>
      `No further round opens, ever. ${openRoundWords(tournament)} This is final: it cannot be activated again.`,
  },
};

const OFFERED: Readonly<Record<TournamentStatus, readonly Action[]>> = {
  active: ['pause', 'close'],
  paused: ['activate', 'close'],
  closed: [],
};

function isRoundOpen({ current_round: round }: OperatorTournament): boolean {
  return round?.status === 'open';
}

function openRoundWords(tournament: OperatorTournament): string {
  return isRoundOpen(tournament)
    ? 'The round that is open goes on to its end, and takes entries and scores; “Cancel the round” on its page ends it.'
    : 'No round is open now.';
}

export function TournamentActions({ tournament }: { readonly tournament: OperatorTournament }): ReactNode {
  const [asking, setAsking] = useState<Action>();
  return (
    <>
      {tournament.status === 'active' && !isRoundOpen(tournament) && <OpenRound tournament={tournament} />}
      <ActionButtons actions={OFFERED[tournament.status]} calls={CALLS} onChoose={setAsking} />
      {asking !== undefined && (
        <Question key={asking} action={asking} tournament={tournament} onClose={() => setAsking(undefined)} />
      )}
    </>
  );
}

interface QuestionProps {
  readonly action: Action;
  readonly tournament: OperatorTournament;
  readonly onClose: () => void;
}

function Question({ action, tournament, onClose }: QuestionProps): ReactNode {
  const { label, status, tone, consequence } = CALLS[action];
  const body: TournamentChange = { status };
  return (
    <ChangeStatusDialog
      kind="tournament"
      contest={tournament}
      facts={TOURNAMENT_FACTS}
      allows={(now) => OFFERED[now.status].includes(action)}
      label={label}
      tone={tone}
      consequence={consequence(tournament)}
      body={body}
      onClose={onClose}
    />
  );
}
