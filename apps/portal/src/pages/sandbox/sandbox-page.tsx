import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Empty } from '../../kit/empty.tsx';
import { Page } from '../../kit/page.tsx';
import { useProgram } from '../../layout/program.tsx';
import { ContestForms } from './contest-forms.tsx';
import { Events } from './events.tsx';
import { PlayerForm } from './player-form.tsx';
import { RetryForm } from './retry-form.tsx';
import './sandbox.css';
import { Script, Steps } from './steps.tsx';
import { useSandbox } from './use-sandbox.ts';

export function SandboxPage(): ReactNode {
  const { programId, environment } = useProgram();
  if (environment === 'test') return <SandboxConsole key={programId} />;
  return (
    <Page title="Sandbox">
      <Empty title="The sandbox is part of the test environment">
        <p>In live, players and money are real: nothing can be simulated here.</p>
        <p>
          <Link to="/p/$programId/$environment/sandbox" params={{ programId, environment: 'test' }}>
            Open the sandbox in test
          </Link>
        </p>
      </Empty>
    </Page>
  );
}

function SandboxConsole(): ReactNode {
  const sandbox = useSandbox();
  const [playerRef, setPlayerRef] = useState(newPlayerRef);
  return (
    <Page title="Sandbox">
      <p>
        Play a whole attempt here, with play money and without waiting. Each step shows its answer, and the call by
        which your server does the same.
      </p>
      <div className="sandbox">
        <div className="sandbox-forms">
          <PlayerForm sandbox={sandbox} playerRef={playerRef} onPlayerRef={setPlayerRef} />
          <ContestForms sandbox={sandbox} playerRef={playerRef} />
          <RetryForm sandbox={sandbox} />
        </div>
        <div className="sandbox-results">
          <Steps />
          <Events />
          <Script />
        </div>
      </div>
    </Page>
  );
}

function newPlayerRef(): string {
  return `sandbox-${crypto.randomUUID().slice(0, 8)}`;
}
