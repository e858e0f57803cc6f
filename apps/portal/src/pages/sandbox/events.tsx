/**
 * Shows the events that the steps cause, as webhooks carry them. Reads them while it is visible.
 */
import { type ReactNode, useEffect } from 'react';
import type { SandboxEvent } from '../../api/api-types.ts';
import { usePoll } from '../../api/use-live-tail.ts';
import { Code } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Section } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptId } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { readEvents, useVisit } from './visit.ts';

const POLL_MS = 2_000;
const POLL_AFTER_FAILURE_MS = 10_000;

export function Events(): ReactNode {
  const { programId } = useProgram();
  const { events, eventsFailure } = useVisit(programId);
  useEffect(() => {
    void readEvents(programId);
  }, [programId]);
  usePoll(true, programId, async (signal) => {
    const result = await readEvents(programId, signal);
    if (!result.ok) return POLL_AFTER_FAILURE_MS;
    return result.data.hasMore ? 0 : POLL_MS;
  });
  const state = eventsFailure === undefined ? 'live' : 'stopped';
  const live = (
    <span className="live-state" data-state={state}>
      {state === 'live' ? 'Live' : 'The server cannot be reached: trying again'}
    </span>
  );
  return (
    <Section title="Events" actions={live}>
      {events.length === 0 ? (
        <Empty title="No events yet">
          <p>
            Every event of the program in test appears here, whether or not an endpoint gets it: a settled attempt, a
            paid award, a round that has ended.
          </p>
        </Empty>
      ) : (
        <ol className="sandbox-events" aria-live="polite">
          {events.toReversed().map((event) => (
            <li key={event.id}>
              <EventItem event={event} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function EventItem({ event: { id, event, created_at: at, body } }: { readonly event: SandboxEvent }): ReactNode {
  const data = JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> };
  const { attempt_id: attemptId } = data.data;
  return (
    <article className="sandbox-event" aria-label={event}>
      <header>
        <code>{event}</code>
        <Time at={at} />
      </header>
      {typeof attemptId === 'string' && <AttemptId value={attemptId} />}
      <details>
        <summary>Body</summary>
        <Code text={JSON.stringify(data, null, 2)} label={`Body of the event ${id}`} />
      </details>
    </article>
  );
}
