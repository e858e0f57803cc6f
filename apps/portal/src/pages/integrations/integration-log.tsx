/** The last pushes and polls of an integration, each with the result of its records. */
import type { ReactNode } from 'react';
import type { IntegrationLogEntry, IntegrationLogRecord, RecordStatus, Transport } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { Code } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { formatCount } from '../../kit/format.ts';
import { ListTable } from '../../kit/list-table.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptId } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';

const REFRESH_MS = 5_000;

const TONES: Readonly<Record<RecordStatus, Tone>> = {
  settled: 'good',
  listened: 'good',
  duplicate: 'neutral',
  ignored: 'neutral',
  rejected: 'bad',
};

const COLUMNS: readonly Column<IntegrationLogEntry>[] = [
  { name: 'When', cell: ({ at }) => <Time at={at} /> },
  { name: 'Kind', cell: ({ kind }) => kind },
  { name: 'Result', grow: 3, cell: (entry) => <Entry entry={entry} /> },
];

interface LogProps {
  readonly integrationId: string;
  readonly transport: Transport;
}

export function IntegrationLog({ integrationId, transport }: LogProps): ReactNode {
  const { pathOf } = useProgram();
  const log = useList<IntegrationLogEntry>(
    pathOf(`/integrations/${integrationId}/log`),
    { limit: 50 },
    { refreshMs: REFRESH_MS },
  );
  return (
    <ListTable
      reading={log}
      caption="Pushes and polls"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      isLive
      empty={
        <Empty title="Nothing in the last 7 days">
          <p>
            {transport === 'pull_poll'
              ? 'Each poll of the active integration appears here.'
              : 'Each push with a valid signature to the active integration appears here.'}
          </p>
        </Empty>
      }
    />
  );
}

/** "2 settled, 1 rejected", in the order of the statuses. */
export function countsOf(records: readonly IntegrationLogRecord[]): readonly (readonly [RecordStatus, number])[] {
  return (Object.keys(TONES) as RecordStatus[])
    .map((status) => [status, records.filter((record) => record.status === status).length] as const)
    .filter(([, count]) => count > 0);
}

function Entry({
  entry: { id, records, error, body_excerpt: body },
}: {
  readonly entry: IntegrationLogEntry;
}): ReactNode {
  return (
    <div className="log-entry">
      <span>
        {error !== null && <Status value={error} tone="bad" />}
        {countsOf(records).map(([status, count]) => (
          <Status key={status} value={`${formatCount(count)} ${status}`} tone={TONES[status]} />
        ))}
        {error === null && records.length === 0 && <span className="muted">no records</span>}
      </span>
      <details>
        <summary>Records and body</summary>
        <ul>
          {records.map((record) => (
            <li key={record.index}>
              <RecordLine record={record} />
            </li>
          ))}
        </ul>
        <Code text={body === '' ? '(no body)' : body} label={`Body of the entry ${id}, the first 1,000 characters`} />
      </details>
    </div>
  );
}

function RecordLine({ record }: { readonly record: IntegrationLogRecord }): ReactNode {
  const { index, attempt_id: attemptId, status, code, message } = record;
  return (
    <>
      {index} <Status value={status} tone={TONES[status]} /> {attemptId !== null && <AttemptId value={attemptId} />}{' '}
      {code !== null && <code>{code}</code>} {message}
    </>
  );
}
