import { type ReactNode, useMemo, useState } from 'react';
import type { ProgramLimits, ProgramLimitsChange, ProgramLimitsList } from '../../../api/api-types.ts';
import { useChange, useRead } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { Field } from '../../../kit/field.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { changedLimits } from './limits.ts';

export function LimitsSection({ programId }: { readonly programId: string }): ReactNode {
  const reading = useRead<ProgramLimitsList>(`/programs/${programId}/limits`);
  const [changing, setChanging] = useState<ProgramLimits>();
  const columns = useMemo(() => columnsWith(setChanging), []);
  return (
    <Section title="Limits of 24 hours">
      <Loaded reading={reading}>
        {({ data }) => (
          <Table
            caption="Limits of 24 hours"
            columns={columns}
            rows={data}
            keyOf={({ environment }) => environment}
            empty={null}
          />
        )}
      </Loaded>
      {changing !== undefined && (
        <Question key={changing.environment} limits={changing} onClose={() => setChanging(undefined)} />
      )}
    </Section>
  );
}

function columnsWith(change: (limits: ProgramLimits) => void): readonly Column<ProgramLimits>[] {
  return [
    { name: 'Environment', cell: ({ environment }) => environment },
    { name: 'Paid so far', align: 'end', cell: ({ paid }) => <Money amount={paid} /> },
    { name: 'Payouts, all accounts', align: 'end', cell: ({ payout_limit }) => <Limit amount={payout_limit} /> },
    { name: 'Fees of one account', align: 'end', cell: ({ fee_limit }) => <Limit amount={fee_limit} /> },
    {
      name: 'Change',
      align: 'end',
      cell: (limits) => (
        <Button aria-label={`Change the limits of ${limits.environment}`} onClick={() => change(limits)}>
          Change
        </Button>
      ),
    },
  ];
}

function Limit({ amount }: { readonly amount: string | null }): ReactNode {
  return amount === null ? <span className="muted">no limit</span> : <Money amount={amount} />;
}

interface QuestionProps {
  readonly limits: ProgramLimits;
  readonly onClose: () => void;
}

function Question({ limits, onClose }: QuestionProps): ReactNode {
  const { program_id: programId, environment } = limits;
  const [payout, setPayout] = useState(limits.payout_limit ?? '');
  const [fee, setFee] = useState(limits.fee_limit ?? '');
  const change = useChange<ProgramLimits>('patch', `/programs/${programId}/limits`, [
    `/programs/${programId}/limits`,
    '/actions',
  ]);
  const changed = changedLimits(limits, { payout, fee });
  const run = async () => {
    const body: ProgramLimitsChange = { environment, ...changed };
    if ((await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmDialog
      title={`Change the limits of ${environment}?`}
      consequence="An award that would exceed the payouts is held; a fee that would exceed the fees is blocked. Awards that are held already stay held. An empty field returns to the default of the deployment."
      confirm="Change"
      tone="primary"
      isOpen
      isBusy={change.isRunning || Object.keys(changed).length === 0}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <Field
        label="Payouts to all accounts, in US dollars"
        inputMode="decimal"
        placeholder="default"
        value={payout}
        onChange={(event) => setPayout(event.target.value)}
      />
      <Field
        label="Fees of one account, in US dollars"
        inputMode="decimal"
        placeholder="default"
        value={fee}
        onChange={(event) => setFee(event.target.value)}
      />
    </ConfirmDialog>
  );
}
