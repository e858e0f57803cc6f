/** The columns of lists of attempts. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorAttemptLine } from '../../../api/api-types.ts';
import { type ContestIds, contestOf } from '../../../attempts/contest-of.ts';
import { verdictOf } from '../../../attempts/verdict.ts';
import { formatScore } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Money } from '../../../kit/money.tsx';
import { Status } from '../../../kit/status.tsx';
import type { Column } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AccountId, AttemptId, ChallengeId, ProgramId, RoundId } from '../../layout/item-ids.tsx';

type Line = OperatorAttemptLine;

const CREATED: Column<Line> = { name: 'Created', cell: (attempt) => <Time at={attempt.created_at} /> };
const ATTEMPT: Column<Line> = { name: 'Attempt', grow: 1.4, cell: ({ id }) => <AttemptId value={id} isShort /> };
const PLAYER: Column<Line> = { name: 'Player', grow: 2, cell: (attempt) => <Player attempt={attempt} /> };
const RESULTS: readonly Column<Line>[] = [
  { name: 'Fee', align: 'end', cell: ({ fee }) => <Money amount={fee} /> },
  { name: 'Score', align: 'end', cell: ({ score }) => (score === null ? '–' : formatScore(score)) },
  {
    name: 'Result',
    grow: 2,
    cell: (attempt) => {
      const { text, tone } = verdictOf(attempt);
      return <Status value={text} tone={tone} />;
    },
  },
];

const ACCOUNT: Column<Line> = {
  name: 'Account',
  grow: 1.4,
  cell: ({ account_id: value }) => (value === null ? 'none' : <AccountId value={value} isShort />),
};
const CONTEST: Column<Line> = {
  name: 'Contest',
  grow: 1.6,
  cell: (attempt) => <ContestId attempt={attempt} isShort />,
};
const PROGRAM: Column<Line> = {
  name: 'Program',
  grow: 1.4,
  cell: ({ program_id: value, environment }) => (
    <>
      <ProgramId value={value} isShort /> <EnvironmentBadge value={environment} />
    </>
  ),
};

/** The columns in the list of a program, whose environment the page names. */
export const PROGRAM_COLUMNS: readonly Column<Line>[] = [CREATED, ATTEMPT, PLAYER, ACCOUNT, CONTEST, ...RESULTS];

/** The columns in the list of an account, over all programs. */
export const ACCOUNT_COLUMNS: readonly Column<Line>[] = [CREATED, ATTEMPT, PLAYER, CONTEST, PROGRAM, ...RESULTS];

/** The columns in the list of one player's attempts in one contest. */
export const CONTEST_COLUMNS: readonly Column<Line>[] = [CREATED, ATTEMPT, PLAYER, ...RESULTS];

/** The ref, which leads to what the player has played in the program and environment. */
export function Player({
  attempt: { player_ref: ref, program_id: programId, environment },
}: {
  readonly attempt: Pick<Line, 'player_ref' | 'program_id' | 'environment'>;
}): ReactNode {
  return (
    <Id value={ref} what="player">
      <Link to="/attempts" search={{ program_id: programId, environment, player_ref: ref }}>
        {/* Isolates a right-to-left ref, which would otherwise reorder the text around it. */}
        <bdi>{ref}</bdi>
      </Link>
    </Id>
  );
}

interface ContestIdProps {
  readonly attempt: ContestIds;
  readonly isShort?: boolean;
}

/** The challenge or the round of an attempt. */
export function ContestId({ attempt, isShort = false }: ContestIdProps): ReactNode {
  const id = attempt.challenge_id ?? attempt.tournament_round_id ?? '';
  return (
    <>
      {isShort && `${contestOf(attempt)} `}
      {attempt.challenge_id === null ? (
        <RoundId value={id} isShort={isShort} />
      ) : (
        <ChallengeId value={id} isShort={isShort} />
      )}
    </>
  );
}
