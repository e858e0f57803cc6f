import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Integration, IntegrationList } from '../../api/api-types.ts';
import { JsonText } from '../../api/client.ts';
import { useChange, useRead } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatCount } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { FailureLine, Problem } from '../../kit/problem.tsx';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { DescriptorField } from './descriptor-field.tsx';
import { DryRun } from './dry-run.tsx';
import { IntegrationActions, IntervalForm } from './integration-actions.tsx';
import { IntegrationLog } from './integration-log.tsx';
import './integrations.css';
import { checkDescriptor, hasRoundedNumber } from './json-check.ts';
import { labelOf } from './transports.ts';

const REFRESH_MS = 10_000;
const route = getRouteApi('/p/$programId/$environment/integrations/$integrationId');

export function IntegrationPage(): ReactNode {
  const { programId, environment, pathOf } = useProgram();
  const { integrationId } = route.useParams();
  // A program has at most 100 integrations, and their list is the only route that shows them.
  const list = useRead<IntegrationList>(pathOf('/integrations'), { environment }, { refreshMs: REFRESH_MS });
  return (
    <Loaded reading={list}>
      {({ data }) => {
        const integration = data.find(({ id }) => id === integrationId);
        if (integration === undefined) return <Problem failure={NOT_FOUND} />;
        return (
          <Page
            title="Integration"
            above={
              <Link to="/p/$programId/$environment/integrations" params={{ programId, environment }}>
                Integrations
              </Link>
            }
            beside={<Status value={integration.status} />}
            actions={<IntegrationActions integration={integration} />}
          >
            <Facts items={factsOf(integration)} />
            {integration.transport === 'push_webhook' && <PushSample integrationId={integrationId} />}
            {integration.transport === 'pull_poll' && <IntervalForm integration={integration} />}
            <Editor key={integrationId} integration={integration} />
            <Section title="Pushes and polls">
              <IntegrationLog integrationId={integrationId} transport={integration.transport} />
            </Section>
          </Page>
        );
      }}
    </Loaded>
  );
}

const NOT_FOUND = {
  kind: 'refused',
  status: 404,
  code: 'not_found',
  message: '',
  requestId: null,
  retryAfterSeconds: null,
} as const;

function factsOf(integration: Integration) {
  const { id, transport, last_poll_error: error, consecutive_failures: failures } = integration;
  const polls = [
    { label: 'Interval', value: `${integration.pull_interval_seconds} s` },
    { label: 'Last poll', value: <Time at={integration.last_polled_at} /> },
    { label: 'Next poll', value: <Time at={integration.next_poll_at} /> },
    {
      label: 'Failed polls in a row',
      value: (
        <>
          {formatCount(failures)} {error !== null && <Status value={error} tone="bad" />}
        </>
      ),
    },
  ];
  const secret = { label: 'Signing secret', value: integration.has_signing_secret ? 'set, not shown' : 'none' };
  return [
    { label: 'Transport', value: labelOf(transport) },
    { label: 'Id', value: <Id value={id} what="integration" /> },
    { label: 'Created', value: <Time at={integration.created_at} /> },
    ...(transport === 'pull_poll' ? polls : []),
    ...(transport === 'push_webhook' ? [secret] : []),
  ];
}

function PushSample({ integrationId }: { readonly integrationId: string }): ReactNode {
  const text = [
    `BODY='{"attempt_id":"<id of the attempt>","score":87.5}'`,
    `SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$LAUREL_SIGNING_SECRET" | sed 's/.*= //')`,
    `curl ${window.location.origin}/webhooks/integrations/${integrationId}/outcome \\`,
    `  -H "X-Service-Signature: sha256=$SIGNATURE" -d "$BODY"`,
  ].join('\n');
  const sdk = [
    "import { signIntegrationBody } from '@laurel/sdk';",
    '',
    "const body = JSON.stringify({ attempt_id: '<id of the attempt>', score: 87.5 });",
    `await fetch('${window.location.origin}/webhooks/integrations/${integrationId}/outcome', {`,
    "  method: 'POST',",
    "  headers: { 'X-Service-Signature': await signIntegrationBody(body, process.env.LAUREL_SIGNING_SECRET) },",
    '  body,',
    '});',
  ].join('\n');
  return (
    <CodeSample
      title="Push an outcome"
      samples={[
        { name: 'curl', text },
        { name: 'SDK', text: sdk },
      ]}
    />
  );
}

function Editor({ integration }: { readonly integration: Integration }): ReactNode {
  const { environment, pathOf } = useProgram();
  const { id, transport, descriptor: saved } = integration;
  const savedText = JSON.stringify(saved, null, 2);
  const [text, setText] = useState(savedText);
  const [isRounded] = useState(() => hasRoundedNumber(saved));
  const change = useChange<Integration>('patch', pathOf(`/integrations/${id}?environment=${environment}`), [
    pathOf('/integrations'),
  ]);
  const save = async () => {
    const changed = await change.run(new JsonText(`{"descriptor":${text}}`));
    if (changed !== undefined) setText(JSON.stringify(changed.descriptor, null, 2));
  };
  return (
    <Section title="Descriptor and dry run">
      <div className="columns descriptor-columns">
        <div className="form">
          <DescriptorField value={text} onChange={setText} />
          {isRounded && (
            <p className="field-error">
              The browser has rounded a number above 2^53 in this text. Write the number again before you save.
            </p>
          )}
          {'pull' in saved && (
            <p className="hint">
              The secret values of <code>pull.auth</code> are not shown. Without a new value the old one stays; a new
              origin needs it again.
            </p>
          )}
          <FailureLine failure={change.failure} />
          <div>
            <Button
              tone="primary"
              disabled={checkDescriptor(text).error !== undefined || text === savedText}
              isBusy={change.isRunning}
              onClick={() => void save()}
            >
              Save the descriptor
            </Button>
          </div>
        </div>
        <DryRun transport={transport} descriptor={text} />
      </div>
    </Section>
  );
}
