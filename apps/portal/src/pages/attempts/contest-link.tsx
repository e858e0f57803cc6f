import type { ReactNode } from 'react';
import { type ContestIds, contestOf } from '../../attempts/contest-of.ts';
import { shortId } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';

interface ContestLinkProps {
  readonly attempt: ContestIds;
  /** If true, the link says whether it leads to a challenge or a round, because no label does. */
  readonly isNamed?: boolean;
}

/** The challenge or the round of an attempt. */
export function ContestLink({ attempt, isNamed = false }: ContestLinkProps): ReactNode {
  const id = attempt.challenge_id ?? attempt.tournament_round_id ?? '';
  const what = contestOf(attempt);
  return (
    <Id value={id} what={what}>
      <ProgramLink path={`/${what}s/${id}`}>
        {isNamed && `${what} `}
        <code>{shortId(id)}</code>
      </ProgramLink>
    </Id>
  );
}
