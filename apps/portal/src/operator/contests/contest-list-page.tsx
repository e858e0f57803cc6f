/**
 * `<ContestListPage kind="challenge" programId environment>filters and table</ContestListPage>`:
 * the frame of a list of a program's contests. `NoContests` says why the list is empty.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment } from '../../api/api-types.ts';
import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';
import { EnvironmentBand, EnvironmentTabs } from '../layout/environments.tsx';
import { ProgramName } from '../layout/program-name.tsx';
import { type ContestKind, FOLDERS, LIST_TITLES } from './kinds.ts';

interface ContestListPageProps {
  readonly kind: ContestKind;
  readonly programId: string;
  readonly environment: Environment;
  readonly children: ReactNode;
}

export function ContestListPage({ kind, programId, environment, children }: ContestListPageProps): ReactNode {
  return (
    <Page
      title={LIST_TITLES[kind]}
      above={
        <Link to="/programs/$programId" params={{ programId }}>
          <ProgramName programId={programId} />
        </Link>
      }
      beside={<EnvironmentTabs path={`/programs/${programId}/${FOLDERS[kind]}`} current={environment} />}
      actions={
        <Link
          className="button"
          data-tone="primary"
          to={`/programs/$programId/${FOLDERS[kind]}/new`}
          params={{ programId }}
          search={{ environment }}
        >
          Create a {kind}
        </Link>
      }
    >
      <EnvironmentBand environment={environment} />
      {children}
    </Page>
  );
}

interface NoContestsProps {
  readonly kind: ContestKind;
  readonly environment: Environment;
  /** The status that the list is filtered by. */
  readonly status: string | undefined;
  /** Says how the first contest is created. */
  readonly children: ReactNode;
}

export function NoContests({ kind, environment, status, children }: NoContestsProps): ReactNode {
  if (status !== undefined) return <Empty title={`No ${kind} is ${status} in the ${environment} environment`} />;
  return (
    <Empty title={`No ${FOLDERS[kind]} in the ${environment} environment yet`}>
      <p>{children}</p>
    </Empty>
  );
}
