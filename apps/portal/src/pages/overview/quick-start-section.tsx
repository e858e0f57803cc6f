/** The first steps of a program, ticked off by its traffic, with the next call of each open one. */
import { type ReactNode, useState } from 'react';
import type { AttemptList, OverviewFirstSteps } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { Loaded } from '../../kit/loaded.tsx';
import { Section } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { NextCall, STEP_TITLES } from './next-call.tsx';
import { isComplete, type Step, type StepName, stepsOf } from './quick-start.ts';

interface QuickStartProps {
  readonly first: OverviewFirstSteps;
  readonly refreshMs: number;
}

export function QuickStart({ first, refreshMs }: QuickStartProps): ReactNode {
  if (isComplete(first)) return null;
  return <OpenQuickStart first={first} refreshMs={refreshMs} />;
}

function OpenQuickStart({ first, refreshMs }: QuickStartProps): ReactNode {
  const { environment, pathOf } = useProgram();
  const path = pathOf('/attempts');
  const newest = useRead<AttemptList>(path, { environment, limit: 1 }, { refreshMs });
  const settled = useRead<AttemptList>(path, { environment, status: 'settled', limit: 1 }, { refreshMs });
  return (
    <Loaded reading={newest}>
      {({ data: attempts }) => {
        const hasSettled = settled.state === 'loaded' && settled.data.data.length > 0;
        const steps = stepsOf(first, { hasAttempt: attempts.length > 0, hasSettled });
        return steps.every(({ isDone }) => isDone) ? null : <Steps steps={steps} />;
      }}
    </Loaded>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }): ReactNode {
  const open = steps.filter(({ isDone }) => !isDone).map(({ name }) => name);
  const [chosen, setChosen] = useState<StepName | 'none'>();
  // A chosen step that is done meanwhile gives way to the next one.
  const shown = chosen === 'none' || (chosen !== undefined && open.includes(chosen)) ? chosen : open[0];
  const done = steps.length - open.length;
  return (
    <Section title="Quick start" actions={<span className="muted">{`${done} of ${steps.length} done`}</span>}>
      <ol className="quick-steps">
        {steps.map((step, index) => (
          <StepItem
            key={step.name}
            step={step}
            number={index + 1}
            isShown={step.name === shown}
            toggle={() => setChosen(step.name === shown ? 'none' : step.name)}
          />
        ))}
      </ol>
    </Section>
  );
}

interface StepItemProps {
  readonly step: Step;
  readonly number: number;
  readonly isShown: boolean;
  readonly toggle: () => void;
}

function StepItem({ step: { name, isDone, at }, number, isShown, toggle }: StepItemProps): ReactNode {
  const { environment } = useProgram();
  const title = STEP_TITLES[name](environment);
  return (
    <li className="quick-step" data-done={isDone}>
      <span className="quick-step-mark" aria-hidden="true">
        {isDone ? '✓' : number}
      </span>
      {isDone ? (
        <p className="quick-step-title">
          {title} <span className="for-screen-readers">is done</span>
          {at !== null && <Time at={at} />}
        </p>
      ) : (
        <button type="button" className="quick-step-title" aria-expanded={isShown} onClick={toggle}>
          {title}
        </button>
      )}
      {isShown && (
        <div className="quick-step-body">
          <NextCall step={name} />
        </div>
      )}
    </li>
  );
}
