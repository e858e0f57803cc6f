/** The frame of every page of a program: its name, its environment, its pages. */
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment, Program, ProgramList } from '../api/api-types.ts';
import { useRead } from '../api/use-read.ts';
import { PopoverMenu } from '../frame/header.tsx';
import { Shell } from '../frame/shell.tsx';
import { EnvironmentWords } from '../kit/environment-words.tsx';
import { Loaded } from '../kit/loaded.tsx';
import { NAVIGATION } from './navigation.ts';
import { ProgramProvider } from './program.tsx';

const route = getRouteApi('/p/$programId/$environment');

export function ProgramShell(): ReactNode {
  const { programId, environment } = route.useParams();
  const reading = useRead<Program>(`/programs/${programId}`);
  return (
    <Shell
      environment={environment}
      header={
        <>
          {reading.state === 'loaded' && <ProgramSwitch program={reading.data} environment={environment} />}
          <EnvironmentSwitch programId={programId} environment={environment} />
        </>
      }
      banner={<EnvironmentBanner environment={environment} />}
      navigation={NAVIGATION}
      params={{ programId, environment }}
    >
      <Loaded reading={reading}>
        {(program) => (
          <ProgramProvider program={program} environment={environment}>
            <Outlet />
          </ProgramProvider>
        )}
      </Loaded>
    </Shell>
  );
}

interface SwitchProps {
  readonly program: Program;
  readonly environment: Environment;
}

function ProgramSwitch({ program, environment }: SwitchProps): ReactNode {
  const programs = useRead<ProgramList>('/programs');
  const others = programs.state === 'loaded' ? programs.data.data.filter(({ id }) => id !== program.id) : [];
  return (
    <PopoverMenu label="Program" current={program.name}>
      {others.map(({ id, name }) => (
        <Link key={id} to="/p/$programId/$environment" params={{ programId: id, environment }}>
          {name}
        </Link>
      ))}
      <Link to="/programs">All programs</Link>
    </PopoverMenu>
  );
}

const ENVIRONMENTS: readonly { readonly value: Environment; readonly label: string }[] = [
  { value: 'test', label: 'Test' },
  { value: 'live', label: 'Live' },
];

function EnvironmentSwitch({ programId, environment }: { programId: string; environment: Environment }): ReactNode {
  return (
    <nav className="environments" aria-label="Environment">
      {ENVIRONMENTS.map(({ value, label }) => (
        <Link
          key={value}
          to="/p/$programId/$environment"
          params={{ programId, environment: value }}
          aria-current={value === environment ? 'true' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

function EnvironmentBanner({ environment }: { readonly environment: Environment }): ReactNode {
  return (
    <aside className="banner" data-environment={environment} aria-label="Where you are">
      <EnvironmentWords environment={environment} />
    </aside>
  );
}
