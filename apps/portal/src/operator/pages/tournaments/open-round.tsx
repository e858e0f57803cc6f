/** `<OpenRound tournament />`: a button, and the dialog that opens a round by hand. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { OperatorTournament, Round, RoundRequest } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { Field } from '../../../kit/field.tsx';
import { Form } from '../../../kit/form.tsx';
import { textOf } from '../../../kit/form-values.ts';
import { money } from '../../../kit/format.ts';

export function OpenRound({ tournament }: { readonly tournament: OperatorTournament }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button tone="primary" onClick={() => setOpen(true)}>
        Open a round
      </Button>
      <Dialog title={`Open a round of ${tournament.name}?`} isOpen={isOpen} onClose={close}>
        <RoundForm tournament={tournament} onCancel={close} />
      </Dialog>
    </>
  );
}

interface RoundFormProps {
  readonly tournament: OperatorTournament;
  readonly onCancel: () => void;
}

function RoundForm({ tournament, onCancel }: RoundFormProps): ReactNode {
  const navigate = useNavigate();
  const path = `/tournaments/${tournament.id}`;
  const list = `/programs/${tournament.program_id}/tournaments`;
  const change = useChange<Round>('post', `${path}/rounds`, [path, list, '/actions']);
  const open = async (form: FormData) => {
    const body: RoundRequest = { opens_at: instantOf(form, 'opens_at'), closes_at: instantOf(form, 'closes_at') ?? '' };
    const round = await change.run(body);
    if (round !== undefined) void navigate({ to: '/rounds/$roundId', params: { roundId: round.id } });
  };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Form submit="Open" change={change} onSubmit={(form) => void open(form)} onCancel={onCancel}>
      <p className="dialog-text">
        From its beginning players pay {money(tournament.entry_fee)}
        {tournament.environment === 'live' ? ' of real money' : ' of play money'} for each attempt, and at its end the
        house pays up to {money(tournament.purse_amount)} by rank. Entries close ten minutes before the end.
      </p>
      <Field label="Opens" name="opens_at" type="datetime-local" hint={`In ${zone}. Empty: now.`} />
      <Field
        label="Closes"
        name="closes_at"
        type="datetime-local"
        hint={`In ${zone}, at least 11 minutes after it opens.`}
        required
      />
    </Form>
  );
}

/** A field of date and time has no offset: it is in the time zone of the browser. */
function instantOf(form: FormData, name: string): string | undefined {
  const text = textOf(form, name);
  return text === undefined ? undefined : new Date(text).toISOString();
}
