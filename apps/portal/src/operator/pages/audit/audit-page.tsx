import type { ReactNode } from 'react';
import type { AuditCheck, AuditReport } from '../../../api/api-types.ts';
import { Button } from '../../../kit/button.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { formatCount } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Page } from '../../../kit/page.tsx';
import { Problem } from '../../../kit/problem.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { inOrderOfHarm, verdictOf } from './report.ts';
import { useAudit } from './use-audit.ts';
import './audit.css';

const COLUMNS: readonly Column<AuditCheck>[] = [
  { name: 'Result', cell: ({ violations }) => <Status {...(violations === 0 ? HOLDS : BROKEN)} /> },
  {
    name: 'Rule',
    grow: 6,
    cell: ({ id, description, examples = [] }) => (
      <div className="audit-rule">
        <p>{description}</p>
        <code className="muted">{id}</code>
        {examples.length > 0 && (
          <ul aria-label="Examples">
            {examples.map((example) => (
              <li key={example}>
                <Id value={example} what="example" />
              </li>
            ))}
          </ul>
        )}
      </div>
    ),
  },
  { name: 'Real money', align: 'end', cell: (check) => formatCount(check.violations_by_environment.live) },
  { name: 'Play money', align: 'end', cell: (check) => formatCount(check.violations_by_environment.test) },
];

const HOLDS = { value: 'holds', tone: 'good' } as const;
const BROKEN = { value: 'broken', tone: 'bad' } as const;

export function AuditPage(): ReactNode {
  const { isRunning, report, reportedAt, failure, run } = useAudit();
  return (
    <Page
      title="Audit"
      actions={
        <Button tone="primary" isBusy={isRunning} onClick={run}>
          {isRunning ? 'Running ...' : 'Run the audit'}
        </Button>
      }
    >
      <p className="muted">
        Checks every money rule against every attempt and every transfer of the platform. It changes nothing, and may
        take up to two minutes.
      </p>
      <p role="status" className="for-screen-readers">
        {isRunning ? 'The audit is running.' : report !== undefined && verdictOf(report).title}
      </p>
      {failure !== undefined && <Problem failure={failure} retry={run} />}
      {report === undefined ? (
        failure === undefined && (
          <Empty title={isRunning ? 'The audit is running' : 'No audit since this page was loaded'}>
            {!isRunning && <p>An alert names the check that failed: run the audit to see the rows that break it.</p>}
          </Empty>
        )
      ) : (
        <Report report={report} at={reportedAt} />
      )}
    </Page>
  );
}

function Report({ report, at }: { readonly report: AuditReport; readonly at: string }): ReactNode {
  const { title, text } = verdictOf(report);
  return (
    <>
      <div className="audit-verdict" data-tone={report.ok ? 'good' : 'bad'}>
        <h2>{title}</h2>
        <p>
          {text} <Time at={at} />
        </p>
      </div>
      <Table
        caption="Checks"
        columns={COLUMNS}
        rows={inOrderOfHarm(report.checks)}
        keyOf={({ id }) => id}
        empty={<Empty title="Laurel made no check" />}
      />
    </>
  );
}
