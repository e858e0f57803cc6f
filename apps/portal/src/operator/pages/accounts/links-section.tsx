/** The programs that have linked the account, and those that may not link it any more. */
import { type ReactNode, useMemo, useState } from 'react';
import type { Account, AccountLinks } from '../../../api/api-types.ts';
import { useChange, useRead } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { ProgramId } from '../../layout/item-ids.tsx';
import { type LinkedProgram, linkedProgramsOf } from './linked-programs.ts';

export function LinksSection({ account }: { readonly account: Account }): ReactNode {
  const reading = useRead<AccountLinks>(`/accounts/${account.id}/player-links`);
  const [asking, setAsking] = useState<LinkedProgram>();
  const columns = useMemo(() => columnsWith(setAsking), []);
  return (
    <Section title="Programs that know it">
      <Loaded reading={reading}>
        {(links) => (
          <Table
            caption="Programs that know it"
            columns={columns}
            rows={linkedProgramsOf(links)}
            keyOf={({ programId }) => programId}
            empty={
              <Empty title="No program has linked the account">
                <p>
                  A program links it by <code>PUT /players/{'{player_ref}'}</code> with its e-mail.
                </p>
              </Empty>
            }
          />
        )}
      </Loaded>
      {asking !== undefined && <Question account={account} program={asking} onClose={() => setAsking(undefined)} />}
    </Section>
  );
}

function columnsWith(ask: (program: LinkedProgram) => void): readonly Column<LinkedProgram>[] {
  return [
    { name: 'Program', cell: ({ programId }) => <ProgramId value={programId} isShort /> },
    { name: 'Players', grow: 3, cell: (program) => <Players program={program} /> },
    {
      name: 'Change',
      align: 'end',
      cell: (program) => {
        const verb = program.severedAt === null ? 'Sever' : 'Lift';
        return (
          <Button aria-label={`${verb} ${program.programId}`} onClick={() => ask(program)}>
            {verb}
          </Button>
        );
      },
    },
  ];
}

function Players({ program: { links, severedAt } }: { readonly program: LinkedProgram }): ReactNode {
  if (severedAt !== null) {
    return (
      <>
        <Status value="severed" tone="bad" /> <Time at={severedAt} />
      </>
    );
  }
  return (
    <ul className="account-players">
      {links.map(({ environment, player_ref: ref, created_at: at }) => (
        <li key={`${environment} ${ref}`}>
          <EnvironmentBadge value={environment} /> <code>{ref}</code> linked <Time at={at} />
        </li>
      ))}
    </ul>
  );
}

interface QuestionProps {
  readonly account: Account;
  readonly program: LinkedProgram;
  readonly onClose: () => void;
}

function Question({ account, program: { programId, severedAt }, onClose }: QuestionProps): ReactNode {
  const path = `/accounts/${account.id}/player-links`;
  const isLift = severedAt !== null;
  const change = useChange<null>(isLift ? 'post' : 'delete', `${path}/${programId}${isLift ? '/lift' : ''}`, [
    path,
    '/accounts',
    '/actions',
  ]);
  const run = async () => {
    if ((await change.run()) !== undefined) onClose();
  };
  return (
    <ConfirmDialog
      title={isLift ? `Let the program link ${account.email} again?` : `Sever the program from ${account.email}?`}
      consequence={isLift ? LIFT : SEVER}
      confirm={isLift ? 'Lift' : 'Sever'}
      tone={isLift ? 'primary' : 'danger'}
      isOpen
      isBusy={change.isRunning}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <p>
        Program <ProgramId value={programId} />
      </p>
    </ConfirmDialog>
  );
}

const SEVER =
  'All links of the program to the account go at once, in test and live. Its keys find no account with this e-mail, and paid attempts of those players get 402 insufficient_funds. Open attempts stay with the account that paid. To lift it restores no link.';
const LIFT =
  'The program can link the account again by its e-mail. No link comes back by itself: its server has to link the player again.';
