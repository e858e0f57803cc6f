/** The frame of every page of a program: header, banner of the environment, side bar, page. */
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Environment, Program, ProgramList } from '../api/api-types.ts';
import { useRead } from '../api/use-read.ts';
import { Loaded } from '../kit/loaded.tsx';
import { Header, PopoverMenu } from './header.tsx';
import { NAVIGATION } from './navigation.ts';
import { ProgramProvider } from './program.tsx';

const route = getRouteApi('/p/$programId/$environment');

export function ProgramShell(): ReactNode {
  const { programId, environment } = route.useParams();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const reading = useRead<Program>(`/programs/${programId}`);
  const menu = (
    <button
      type="button"
      className="side-bar-button"
      aria-expanded={isMenuOpen}
      aria-controls="side-bar"
      onClick={() => setMenuOpen(!isMenuOpen)}
    >
      Menu
    </button>
  );
  return (
    <div className="shell" data-environment={environment}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Header menu={menu}>
        {reading.state === 'loaded' && <ProgramSwitch program={reading.data} environment={environment} />}
        <EnvironmentSwitch programId={programId} environment={environment} />
      </Header>
      <EnvironmentBanner environment={environment} />
      <nav id="side-bar" className="side-bar" data-open={isMenuOpen} aria-label="Pages">
        <ul>
          {NAVIGATION.map(({ to, label }) => (
            <li key={to}>
              <Link to={to} params={{ programId, environment }} onClick={() => setMenuOpen(false)}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" className="content" tabIndex={-1}>
        <Loaded reading={reading}>
          {(program) => (
            <ProgramProvider program={program} environment={environment}>
              <Outlet />
            </ProgramProvider>
          )}
        </Loaded>
      </main>
    </div>
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
      {environment === 'test' ? (
        <>
          <strong>Test environment</strong> Sandbox players, no real money.
        </>
      ) : (
        <>
          <strong>Live environment</strong> Real players and real money.
        </>
      )}
    </aside>
  );
}
