/** The list of what was done in this visit, newest first, and the script that does it again. */
import type { ReactNode } from 'react';
import { Button } from '../../kit/button.tsx';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Section } from '../../kit/page.tsx';
import { FailureLine } from '../../kit/problem.tsx';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptId } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { type SandboxCall, titleOf } from './calls.ts';
import { samplesOf, scriptsOf } from './samples.ts';
import { acceptedCallsOf, forgetSteps, type Step, useVisit } from './visit.ts';
import { adviceFor, answerInWords } from './words.ts';

export function Steps(): ReactNode {
  const { programId } = useProgram();
  const { steps } = useVisit(programId);
  const actions = steps.length > 0 && <Button onClick={() => forgetSteps(programId)}>Clear</Button>;
  return (
    <Section title="Steps of this visit" actions={actions}>
      {steps.length === 0 ? (
        <Empty title="Nothing done yet">
          <p>Save a player, create an attempt and report its score. Each step appears here.</p>
        </Empty>
      ) : (
        <ol className="sandbox-steps">
          {steps.toReversed().map((step) => (
            <li key={step.number}>
              <StepItem step={step} isNewest={step.number === steps.length} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

interface LastResultProps {
  readonly kinds: readonly SandboxCall['kind'][];
}

/** Shows the result of the last step of these kinds, beside the buttons that made it. */
export function LastResult({ kinds }: LastResultProps): ReactNode {
  const { programId } = useProgram();
  const step = useVisit(programId).steps.findLast(({ call }) => kinds.includes(call.kind));
  return (
    <p className="sandbox-result" role="status" data-tone={step?.result.ok === false ? 'bad' : 'good'}>
      {step !== undefined && `${step.number}. ${resultInWords(step)}`}
    </p>
  );
}

function resultInWords({ call, result }: Step): string {
  if (result.ok) return answerInWords(call, result.data);
  const { failure } = result;
  return adviceFor(call, failure) ?? (failure.kind === 'refused' ? failure.message : 'No answer.');
}

function StepItem({ step, isNewest }: { readonly step: Step; readonly isNewest: boolean }): ReactNode {
  const { number, at, call, result } = step;
  const attemptId = attemptOf(step);
  return (
    <article className="sandbox-step" aria-label={`Step ${number}`}>
      <header>
        <h3>
          {number}. {titleOf(call)}
        </h3>
        <Status value={result.ok ? 'done' : 'refused'} tone={result.ok ? 'good' : 'bad'} />
        <Time at={at} />
      </header>
      {result.ok ? <p>{answerInWords(call, result.data)}</p> : <Refusal step={step} />}
      {attemptId !== undefined && <AttemptId value={attemptId} />}
      <details open={isNewest}>
        <summary>Answer and code</summary>
        <CodeSample
          title={`Step ${number}`}
          samples={[answerSample(step), ...samplesOf(call, window.location.origin)]}
        />
      </details>
    </article>
  );
}

/** The code, and what to do about it; Laurel's own message where the code does not say it. */
function Refusal({ step: { call, result } }: { readonly step: Step }): ReactNode {
  if (result.ok) return null;
  const { failure } = result;
  const advice = adviceFor(call, failure);
  return (
    <>
      {advice !== undefined && <p>{advice}</p>}
      {failure.kind === 'refused' && (
        <p className="muted">
          <code>{failure.code}</code> {advice !== undefined && failure.message}
        </p>
      )}
      {advice === undefined && <FailureLine failure={failure} />}
    </>
  );
}

export function Script(): ReactNode {
  const { programId } = useProgram();
  const done = acceptedCallsOf(useVisit(programId).steps);
  if (done.length === 0) return null;
  return (
    <Section title="All steps as a script">
      <p className="hint">
        The accepted steps in their order, with the test key from <code>LAUREL_TEST_KEY</code>. Each run makes players
        and attempts of its own. What Laurel accepts once, such as closing a round, is left out.
      </p>
      <CodeSample title="Script" samples={scriptsOf(done, window.location.origin)} />
    </Section>
  );
}

function answerSample({ result }: Step) {
  const failure = result.ok ? undefined : result.failure;
  const refusal = failure?.kind === 'refused' ? { error: { code: failure.code, message: failure.message } } : undefined;
  const answer = result.ok ? result.data : refusal;
  return { name: 'Answer', text: answer === undefined ? noAnswer(result.ok) : JSON.stringify(answer, null, 2) };
}

function noAnswer(isAccepted: boolean): string {
  return isAccepted ? '204 No Content' : 'No answer';
}

function attemptOf({ call, result }: Step): string | undefined {
  if (call.kind === 'create-attempt') return result.ok ? (result.data as { readonly id: string }).id : undefined;
  return attemptIdIn(call);
}

function attemptIdIn(call: SandboxCall): string | undefined {
  return 'attemptId' in call ? call.attemptId : undefined;
}
