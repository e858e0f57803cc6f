import { getRouteApi, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RequestDetails } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { Code, CodeSample } from '../../kit/code-sample.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatDuration } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { prettyJson } from '../../kit/pretty-json.ts';
import { HttpStatus } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptId } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';
import { curlOfRequest, isRedacted } from './request.ts';
import type { RequestSearch } from './search.ts';
import './requests.css';

const route = getRouteApi('/p/$programId/$environment/requests/$requestId');

export function RequestPage(): ReactNode {
  const { programId, environment, pathOf } = useProgram();
  const { requestId } = route.useParams();
  const reading = useRead<RequestDetails>(pathOf(`/requests/${encodeURIComponent(requestId)}`));
  return (
    <Page
      title="Request"
      above={<ProgramLink path="/requests">Requests</ProgramLink>}
      beside={<Id value={requestId} what="request" />}
    >
      <Loaded reading={reading}>
        {(request) =>
          request.environment === environment ? (
            <Details request={request} />
          ) : (
            // The banner names the environment of the request.
            <Navigate
              replace
              to="/p/$programId/$environment/requests/$requestId"
              params={{ programId, requestId, environment: request.environment }}
            />
          )
        }
      </Loaded>
      <p className="muted">The log keeps a request for 7 days. Its id is the X-Request-Id of its response.</p>
    </Page>
  );
}

function Details({ request }: { readonly request: RequestDetails }): ReactNode {
  const { method, path, status } = request;
  return (
    <>
      <p className="request-title">
        <code>
          <b>{method}</b> {path}
        </code>
        <HttpStatus value={status} />
      </p>
      <Facts items={factsOf(request)} />
      {status === 499 && <p>The caller disconnected before the response, and did not receive it.</p>}
      <div className="columns request-bodies">
        <Body
          title="Request body"
          text={request.request_body}
          isTruncated={request.request_body_truncated}
          none="The request had no body."
        />
        <Body
          title="Response body"
          text={request.response_body}
          isTruncated={request.response_body_truncated}
          none="The log has no body of this response: it was empty, or it was sent in pieces."
        />
      </div>
      <Repetition request={request} />
    </>
  );
}

function factsOf(request: RequestDetails) {
  const { error_code, idempotency_key, attempt_id, user_agent, replayed } = request;
  return [
    { label: 'Arrived', value: <Time at={request.at} /> },
    { label: 'Took', value: formatDuration(request.duration_ms) },
    { label: 'Route', value: <FilterLink name="route" value={request.route} /> },
    { label: 'Error code', value: error_code !== null && <FilterLink name="error_code" value={error_code} /> },
    { label: 'Attempt', value: attempt_id !== null && <AttemptId value={attempt_id} /> },
    {
      label: 'Idempotency key',
      value: idempotency_key !== null && (
        <>
          <FilterLink name="idempotency_key" value={idempotency_key} />
          {replayed && ' (replayed: the response of an earlier request with this key)'}
        </>
      ),
    },
    { label: 'User agent', value: user_agent !== null && user_agent },
  ].filter(({ value }) => value !== false);
}

/** A link to all requests of the log with this value. */
function FilterLink({ name, value }: { readonly name: keyof RequestSearch; readonly value: string }): ReactNode {
  return (
    <ProgramLink path="/requests" search={{ [name]: value }}>
      <code>{value}</code>
    </ProgramLink>
  );
}

interface BodyProps {
  readonly title: string;
  readonly text: string | null;
  readonly isTruncated: boolean;
  /** The text that is shown for null. */
  readonly none: string;
}

function Body({ title, text, isTruncated, none }: BodyProps): ReactNode {
  return (
    <Section title={title}>
      {text === null ? <p className="muted">{none}</p> : <Code text={prettyJson(text)} label={`${title}, text`} />}
      {isTruncated && <p className="hint">The log keeps the first 16 KiB: the rest is missing here.</p>}
      {isRedacted(text) && <p className="hint">Laurel wrote “[redacted]” in place of secrets and e-mails.</p>}
    </Section>
  );
}

function Repetition({ request }: { readonly request: RequestDetails }): ReactNode {
  const command = curlOfRequest(request, window.location.origin);
  const hasRedacted = isRedacted(request.request_body) || isRedacted(request.path);
  return (
    <Section title="Send it again">
      {command === null ? (
        <p className="muted">The log has only the beginning of the body, so it cannot give the command.</p>
      ) : (
        <CodeSample title="The same request" samples={[{ name: 'curl', text: command }]} />
      )}
      {request.idempotency_key !== null && (
        <p className="hint">
          If the first request with this idempotency key succeeded, its response comes again for 24 hours, and nothing
          is charged twice. A refused one runs again.
        </p>
      )}
      {hasRedacted && <p className="hint">Put your own values in place of “[redacted]”.</p>}
    </Section>
  );
}
