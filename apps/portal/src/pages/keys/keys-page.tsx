import { type ReactNode, useState } from 'react';
import type { ProgramKey, TestKey } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { CodeSample } from '../../kit/code-sample.tsx';
import { ConfirmDialog, SecretDialog } from '../../kit/dialog.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { challengeListSamples } from '../../kit/samples.ts';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';

const COLUMNS = [
  { name: 'Key', cell: ({ prefix, last4 }: ProgramKey) => <code>{`${prefix}…${last4}`}</code> },
  { name: 'Created', cell: (key: ProgramKey) => <Time at={key.created_at} /> },
  { name: 'Last used', cell: (key: ProgramKey) => <Time at={key.last_used_at} /> },
];

export function KeysPage(): ReactNode {
  const { program, environment } = useProgram();
  const keys = program.keys.filter((key) => key.environment === environment);
  return (
    <Page title="API keys" actions={environment === 'test' && <ReplaceTestKey />}>
      <p>
        Your game server sends its key in the header <code>X-API-Key</code>. Laurel keeps only a hash, so a key is shown
        once, when it is created.
      </p>
      <Table
        caption={`Keys of the ${environment} environment`}
        columns={COLUMNS}
        rows={keys}
        keyOf={({ prefix, last4 }) => prefix + last4}
        empty={
          <Empty title={`No ${environment} key`}>
            {environment === 'live' && <p>An operator gives out the live key when the program is approved.</p>}
          </Empty>
        }
      />
      <Section title="Try it">
        <CodeSample title="List the challenges" samples={challengeListSamples(environment)} />
      </Section>
    </Page>
  );
}

function ReplaceTestKey(): ReactNode {
  const { pathOf } = useProgram();
  const [isAsking, setAsking] = useState(false);
  const [key, setKey] = useState<string>();
  const change = useChange<TestKey>('post', pathOf('/test-key'), [pathOf(''), '/programs']);
  const close = () => {
    setAsking(false);
    change.reset();
  };
  const replace = async () => {
    const created = await change.run();
    if (created === undefined) return;
    close();
    setKey(created.test_key);
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>Replace the test key</Button>
      <ConfirmDialog
        title="Replace the test key?"
        consequence="The old key stops at once: every server that still sends it gets 401 until it has the new one. The new key is shown once."
        confirm="Replace"
        isOpen={isAsking}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void replace()}
        onClose={close}
      />
      <SecretDialog title="The new test key" secret={key} onClose={() => setKey(undefined)}>
        Store it where your test server reads its key. It is not shown again.
      </SecretDialog>
    </>
  );
}
