/** What changes a tournament, each with its consequence before it happens. */
import { type ReactNode, useState } from 'react';
import type { OperatorTournament, TournamentChange, TournamentStatus } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
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
      {OFFERED[tournament.status].map((action) => (
        <Button
          key={action}
          tone={CALLS[action].tone === 'primary' ? 'primary' : 'plain'}
          onClick={() => setAsking(action)}
        >
          {CALLS[action].label}
        </Button>
      ))}
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
  const path = `/tournaments/${tournament.id}`;
  const affects = [path, `/programs/${tournament.program_id}/tournaments`, '/actions'];
  const change = useChange<OperatorTournament>('patch', path, affects);
  const run = async () => {
    const body: TournamentChange = { status };
    if ((await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmItemDialog
      item={{
        path,
        shown: tournament,
        facts: TOURNAMENT_FACTS,
        subjects: [{ name: `tournament:${tournament.id}` }],
        affects,
      }}
      allows={(now) => OFFERED[now.status].includes(action)}
      title={`${label} ${tournament.name}?`}
      consequence={consequence(tournament)}
      confirm={label}
      tone={tone}
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    />
  );
}
