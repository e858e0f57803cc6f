/** `<Sends delivery={delivery} />`: each send with its parts, and its answer or its error. */
import type { ReactNode } from 'react';
import type { WebhookDelivery, WebhookSend } from '../../api/api-types.ts';
import { Code } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { formatDuration } from '../../kit/format.ts';
import { HttpStatus, Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { type Waterfall, waterfallOf } from './waterfall.ts';
import './deliveries.css';

/** What a developer can do about an error whose own text does not say so. */
const ADVICE: Readonly<Record<string, string>> = {
  timeout: 'The headers of a 2xx have to arrive within 5 seconds: answer first, and work afterwards.',
  http_3xx: 'Change the URL of the endpoint to where it redirects.',
  http_4xx: 'Is it your check of the signature that refuses? Verify it below.',
  tls: 'Certificates are always verified, with all their intermediate ones.',
};

export function Sends({ delivery: { attempts } }: { readonly delivery: WebhookDelivery }): ReactNode {
  if (attempts.length === 0) return <Empty title="Not sent yet" />;
  return (
    <ol className="sends">
      {attempts.toReversed().map((send) => (
        <li key={send.number}>
          <Send send={send} />
        </li>
      ))}
    </ol>
  );
}

function Send({ send }: { readonly send: WebhookSend }): ReactNode {
  const { number, started_at: at, duration_ms: ms, http_status: status, error_kind: kind, error } = send;
  const { response_excerpt: excerpt } = send;
  return (
    <>
      <h3>
        Send {number} {ms === null ? <Status value="under way" tone="info" /> : <HttpStatus value={status} />}
        {status === null && kind !== null && <Status value={kind} tone="bad" />}
      </h3>
      <p className="muted">
        <Time at={at} />
        {ms !== null && `, ${formatDuration(ms)}`}
      </p>
      {error !== null && <p className="send-error">{error}</p>}
      <WaterfallView waterfall={waterfallOf(send)} number={number} />
      {excerpt !== null && excerpt !== '' && <Code text={excerpt} label={`Answer to send ${number}`} />}
      {excerpt === '' && status !== null && <p className="muted">The answer has no body.</p>}
      {kind !== null && ADVICE[kind] !== undefined && <p className="muted">{ADVICE[kind]}</p>}
    </>
  );
}

const WIDTH = 1_000;
const LEAST = 4;

function WaterfallView({ waterfall, number }: { readonly waterfall: Waterfall; readonly number: number }): ReactNode {
  const { spans, totalMs } = waterfall;
  if (spans.length === 0) return null;
  const scale = (ms: number) => (totalMs === 0 ? 0 : (ms / totalMs) * WIDTH);
  return (
    <table className="waterfall">
      <caption className="for-screen-readers">{`Parts of send ${number}`}</caption>
      <tbody>
        {spans.map(({ name, startMs, ms }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="waterfall-bar">
              <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
                <rect
                  x={Math.min(scale(startMs), WIDTH - LEAST)}
                  width={Math.max(LEAST, scale(ms))}
                  y={0}
                  height={10}
                />
              </svg>
            </td>
            <td className="waterfall-ms">{ms < 1 ? '< 1 ms' : formatDuration(ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
