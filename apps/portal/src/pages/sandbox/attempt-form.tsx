import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Field } from '../../kit/field.tsx';
import { Section } from '../../kit/page.tsx';
import { useProgram } from '../../layout/program.tsx';
import type { Contest } from './contests.ts';
import { LastResult } from './steps.tsx';
import type { Sandbox } from './use-sandbox.ts';
import { lastAttemptOf, useVisit } from './visit.ts';

interface AttemptFormProps {
  readonly sandbox: Sandbox;
  /** The chosen contest, which names the unit of the score. */
  readonly contest: Contest | undefined;
}

/** Reports the attempt that was created last, unless the developer names another one. */
export function AttemptForm({ sandbox, contest }: AttemptFormProps): ReactNode {
  const { programId } = useProgram();
  const last = lastAttemptOf(useVisit(programId).steps) ?? '';
  const [typed, setTyped] = useState<{ readonly last: string; readonly id: string }>();
  const [score, setScore] = useState('100');
  const [tiebreak, setTiebreak] = useState('');
  const attemptId = typed?.last === last ? typed.id : last;
  const report = (event: FormEvent) => {
    event.preventDefault();
    const body = { score: Number(score), ...(tiebreak !== '' && { tiebreak: Number(tiebreak) }) };
    sandbox.run({ kind: 'report-outcome', attemptId, body });
  };
  return (
    <Section title="Attempt">
      <form className="sandbox-form" onSubmit={report}>
        <Field
          label="Attempt id"
          hint="The last one that was created here, or any other of the program in test."
          value={attemptId}
          onChange={(event) => setTyped({ last, id: event.target.value.trim() })}
          required
          spellCheck={false}
        />
        <Field
          label={contest === undefined ? 'Score' : `Score (${contest.metric})`}
          type="number"
          step="any"
          value={score}
          onChange={(event) => setScore(event.target.value)}
          required
        />
        {contest?.kind === 'round' && (
          <Field
            label={contest.tiebreak === null ? 'Tiebreak' : `Tiebreak (${contest.tiebreak})`}
            hint={contest.tiebreak === null ? 'This tournament has none.' : 'This tournament needs it.'}
            type="number"
            step="any"
            value={tiebreak}
            onChange={(event) => setTiebreak(event.target.value)}
          />
        )}
        <div className="sandbox-buttons">
          <Button
            type="submit"
            tone="primary"
            disabled={attemptId === ''}
            isBusy={sandbox.running === 'report-outcome'}
          >
            Report the score
          </Button>
          <Button
            disabled={attemptId === ''}
            isBusy={sandbox.running === 'expire-attempt'}
            onClick={() => sandbox.run({ kind: 'expire-attempt', attemptId })}
          >
            Expire it now
          </Button>
        </div>
        <LastResult kinds={['report-outcome', 'expire-attempt']} />
      </form>
    </Section>
  );
}
