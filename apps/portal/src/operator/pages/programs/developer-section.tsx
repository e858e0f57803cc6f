import { type ReactNode, useState } from 'react';
import type { DeveloperList, OperatorProgram, ProgramChange } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import type { Failure } from '../../../api/failure.ts';
import { useChange, useRead } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { Field } from '../../../kit/field.tsx';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Section } from '../../../kit/page.tsx';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { SignInLink } from '../developers/sign-in-link.tsx';
import { PROGRAM_FACTS } from './facts.ts';

type Asking = 'change' | 'remove';

/**
 * The developer who sees the program in the portal. An operator can assign another one, and make a
 * sign-in link after a lost password.
 */
export function DeveloperSection({ program }: { readonly program: OperatorProgram }): ReactNode {
  const [asking, setAsking] = useState<Asking>();
  const close = () => setAsking(undefined);
  const { developer_id: developerId } = program;
  const actions = (
    <>
      <Button onClick={() => setAsking('change')}>
        {developerId === null ? 'Assign a developer' : 'Change the developer'}
      </Button>
      {developerId !== null && <Button onClick={() => setAsking('remove')}>Remove the developer</Button>}
    </>
  );
  return (
    <Section title="Developer" actions={actions}>
      {developerId === null ? <p>No developer sees the program.</p> : <DeveloperFacts developerId={developerId} />}
      {asking === 'change' && <Assign program={program} onClose={close} />}
      {asking === 'remove' && <Remove program={program} onClose={close} />}
    </Section>
  );
}

function DeveloperFacts({ developerId }: { readonly developerId: string }): ReactNode {
  const reading = useRead<DeveloperList>('/developers', { id: developerId });
  return (
    <Loaded reading={reading}>
      {({ data: [developer] }) => (
        <>
          <Facts
            items={[
              { label: 'E-mail', value: developer?.email ?? 'unknown' },
              { label: 'Id', value: <Id value={developerId} what="developer" /> },
              { label: 'Programs', value: developer?.programs ?? 'unknown' },
            ]}
          />
          {developer !== undefined && (
            <div className="muted">
              A sign-in link lets the developer in to the portal once, within 15 minutes, without a password.{' '}
              <SignInLink developer={developer} />
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}

const AFFECTS = ['/programs', '/developers', '/actions'] as const;

const PREVIOUS =
  'The previous developer gets 404 for the program at once, by open sessions too, and no event or retry of it is sent to their endpoints any more.';
const STAYS =
  'The API keys and the secrets of its integrations stay valid, also for people who know them: replace the live key here; the new developer replaces the test key and the secrets in the portal. Nothing that was shown once is shown again.';

interface ProgramDialogProps {
  readonly program: OperatorProgram;
  readonly onClose: () => void;
}

/** Changes the developer, for both dialogs that do so. */
function useDeveloperChange({ program, onClose }: ProgramDialogProps) {
  const path = `/programs/${program.id}`;
  const change = useChange<OperatorProgram>('patch', path, AFFECTS);
  return {
    change,
    assign: async (developerId: string | null) => {
      const body: ProgramChange = { developer_id: developerId };
      if ((await change.run(body)) !== undefined) onClose();
    },
    item: {
      path,
      shown: program,
      facts: PROGRAM_FACTS,
      subjects: [{ name: `program:${program.id}` }],
      affects: AFFECTS,
    },
  };
}

function Assign(props: ProgramDialogProps): ReactNode {
  const { program, onClose } = props;
  const [email, setEmail] = useState('');
  const [isLooking, setLooking] = useState(false);
  const [isUnknown, setUnknown] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const { change, assign, item } = useDeveloperChange(props);
  const run = async () => {
    setLooking(true);
    const found = await call<DeveloperList>('get', '/developers', { query: { email: email.trim() } });
    setLooking(false);
    const developer = found.ok ? found.data.data[0] : undefined;
    setFailure(found.ok ? undefined : found.failure);
    setUnknown(found.ok && developer === undefined);
    if (developer !== undefined) await assign(developer.id);
  };
  const isFirst = program.developer_id === null;
  return (
    <ConfirmItemDialog
      item={item}
      allows={() => true}
      title={isFirst ? `Assign a developer to ${program.name}?` : `Change the developer of ${program.name}?`}
      consequence={`The developer sees the program in the portal, with its attempts, requests and integrations of before, and their webhook endpoints get its events from now on. ${isFirst ? '' : `${PREVIOUS} `}${STAYS}`}
      confirm={isFirst ? 'Assign' : 'Change'}
      tone={isFirst ? 'primary' : 'danger'}
      isBusy={change.isRunning || isLooking || email.trim() === ''}
      failure={failure ?? change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <Field
        label="E-mail of the developer"
        type="email"
        value={email}
        error={isUnknown ? 'No developer has this e-mail.' : undefined}
        onChange={(event) => setEmail(event.target.value)}
      />
    </ConfirmItemDialog>
  );
}

function Remove(props: ProgramDialogProps): ReactNode {
  const { program, onClose } = props;
  const { change, assign, item } = useDeveloperChange(props);
  return (
    <ConfirmItemDialog
      item={item}
      allows={({ developer_id: developerId }) => developerId !== null}
      title={`Remove the developer of ${program.name}?`}
      consequence={`No developer sees the program, and its events are sent to nobody. ${PREVIOUS} The API keys and the secrets of its integrations stay valid; nobody but an operator can replace the live key then, and nobody the test key.`}
      confirm="Remove"
      tone="danger"
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void assign(null)}
      onClose={onClose}
    />
  );
}
