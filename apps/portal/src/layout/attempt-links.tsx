/**
 * Links to attempts: `<AttemptId value={id} />` to one, `<AttemptsLink of={{ challenge_id: id }}>`
 * to the list with a filter, and `<PlayerLink value={player_ref} />` to what a player has played.
 */
import type { ReactNode } from 'react';
import { shortId } from '../kit/format.ts';
import { Id } from '../kit/id.tsx';
import { ProgramLink } from './program-link.tsx';

interface AttemptIdProps {
  readonly value: string;
  readonly isShort?: boolean;
  /** `row-link`: the whole row of a table is the link. */
  readonly className?: 'row-link';
}

export function AttemptId({ value, isShort = false, className }: AttemptIdProps): ReactNode {
  return (
    <Id value={value} what="attempt">
      <ProgramLink path={`/attempts/${value}`} {...(className === undefined ? {} : { className })}>
        <code>{isShort ? shortId(value) : value}</code>
      </ProgramLink>
    </Id>
  );
}

interface AttemptsLinkProps {
  /** The filter of the list. */
  readonly of:
    | { readonly challenge_id: string }
    | { readonly tournament_round_id: string }
    | { readonly player_ref: string };
  /** `button`: one of the actions of a page. */
  readonly className?: 'button';
  readonly children: ReactNode;
}

export function AttemptsLink({ of, className, children }: AttemptsLinkProps): ReactNode {
  return (
    <ProgramLink path="/attempts" search={{ ...of }} {...(className === undefined ? {} : { className })}>
      {children}
    </ProgramLink>
  );
}

export function PlayerLink({ value }: { readonly value: string }): ReactNode {
  return (
    <Id value={value} what="player">
      <AttemptsLink of={{ player_ref: value }}>
        {/* Isolates a right-to-left ref, which would otherwise reorder the text around it. */}
        <bdi>{value}</bdi>
      </AttemptsLink>
    </Id>
  );
}
