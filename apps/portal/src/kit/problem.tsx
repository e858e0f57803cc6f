/** `<Problem failure={...} retry={...} />`: says what failed, and what can be done about it. */
import type { ReactNode } from 'react';
import type { Failure } from '../api/failure.ts';
import { Button } from './button.tsx';
import { Id } from './id.tsx';

interface ProblemProps {
  readonly failure: Failure;
  readonly retry?: () => void;
}

export function Problem({ failure, retry }: ProblemProps): ReactNode {
  // The shell shows its own screen in place of the page.
  if (failure.kind === 'session-ended') return null;
  const { title, text } = describe(failure);
  return (
    <div className="problem" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {failure.kind === 'refused' && failure.requestId !== null && (
        <p className="muted">
          Request <Id value={failure.requestId} what="request" />
        </p>
      )}
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** `<FailureLine failure={change.failure} />`: one line below a form or in a dialog. */
export function FailureLine({ failure }: { readonly failure: Failure | undefined }): ReactNode {
  return (
    <p className="failure-line" role="alert">
      {failure !== undefined && failure.kind !== 'session-ended' && describe(failure).text}
    </p>
  );
}

function describe(failure: Exclude<Failure, { kind: 'session-ended' }>): { title: string; text: string } {
  if (failure.kind === 'unreachable') {
    return {
      title: 'The server cannot be reached',
      text: 'Laurel did not answer. Check your connection, or try again in a moment.',
    };
  }
  const { status, message, retryAfterSeconds } = failure;
  if (status === 404) return { title: 'Not found', text: 'This does not exist, or you may not see it.' };
  if (status === 429) {
    const wait = retryAfterSeconds === null ? 'a moment' : `${retryAfterSeconds} s`;
    return { title: 'Too many requests', text: `Laurel limits how often it is asked. Try again in ${wait}.` };
  }
  if (status >= 500) return { title: 'Laurel failed', text: `${message} Nothing is lost: try again in a moment.` };
  return { title: 'Refused', text: message };
}
