/**
 * `<ProgramLink path={`/attempts/${id}`}>...</ProgramLink>`: a page of the program and environment
 * of the address. `search` has the page's filters.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProgram } from './program.tsx';

interface ProgramLinkProps {
  readonly path: string;
  readonly search?: Readonly<Record<string, string>>;
  /** `row-link`: the whole row of a table is the link. */
  readonly className?: string;
  readonly children: ReactNode;
}

export function ProgramLink({ path, search = {}, className, children }: ProgramLinkProps): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Link to={`/p/${programId}/${environment}${path}` as string} search={search} className={className}>
      {children}
    </Link>
  );
}
