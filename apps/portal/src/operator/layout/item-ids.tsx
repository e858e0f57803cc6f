/**
 * `<AccountId value={id} />`: an id with its copy button, as the link to the item's page. `isShort`
 * shows its first characters, for tables.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { shortId } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';

interface ItemIdProps {
  readonly value: string;
  readonly isShort?: boolean;
}

export function AttemptId({ value, isShort = false }: ItemIdProps): ReactNode {
  return (
    <Id value={value} what="attempt">
      <Link to="/attempts/$attemptId" params={{ attemptId: value }}>
        <Text value={value} isShort={isShort} />
      </Link>
    </Id>
  );
}

export function PayoutId({ value, isShort = false }: ItemIdProps): ReactNode {
  return (
    <Id value={value} what="award">
      <Link to="/payouts/$awardId" params={{ awardId: value }}>
        <Text value={value} isShort={isShort} />
      </Link>
    </Id>
  );
}

export function AccountId({ value, isShort = false }: ItemIdProps): ReactNode {
  return (
    <Id value={value} what="account">
      <Link to="/accounts/$accountId" params={{ accountId: value }}>
        <Text value={value} isShort={isShort} />
      </Link>
    </Id>
  );
}

export function ProgramId({ value, isShort = false }: ItemIdProps): ReactNode {
  return (
    <Id value={value} what="program">
      <Link to="/programs/$programId" params={{ programId: value }}>
        <Text value={value} isShort={isShort} />
      </Link>
    </Id>
  );
}

export function ChallengeId({ value, isShort = false }: ItemIdProps): ReactNode {
  return (
    <Id value={value} what="challenge">
      <Link to="/challenges/$challengeId" params={{ challengeId: value }}>
        <Text value={value} isShort={isShort} />
      </Link>
    </Id>
  );
}

export function TournamentId({ value, isShort = false }: ItemIdProps): ReactNode {
  return (
    <Id value={value} what="tournament">
      <Link to="/tournaments/$tournamentId" params={{ tournamentId: value }}>
        <Text value={value} isShort={isShort} />
      </Link>
    </Id>
  );
}

export function RoundId({ value, isShort = false }: ItemIdProps): ReactNode {
  return (
    <Id value={value} what="round">
      <Link to="/rounds/$roundId" params={{ roundId: value }}>
        <Text value={value} isShort={isShort} />
      </Link>
    </Id>
  );
}

function Text({ value, isShort = false }: ItemIdProps): ReactNode {
  return <code>{isShort ? shortId(value) : value}</code>;
}
