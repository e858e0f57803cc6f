/**
 * `<ResendFailed endpointId={id} />`: sends the failed deliveries of a period again, at most 1,000
 * with one call; another call continues where the last one ended.
 */
import { type ReactNode, useState } from 'react';
import type { ResendPeriod, ResentDeliveries } from '../../api/api-types.ts';
import { useChange } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog, Dialog } from '../../kit/dialog.tsx';
import { Field, SelectField } from '../../kit/field.tsx';
import { formatCount } from '../../kit/format.ts';
import { type PeriodDraft, periodOf } from './resend-period.ts';

const PERIODS = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last 24 hours' },
  { value: '168', label: 'The last 7 days' },
  { value: '720', label: 'The last 30 days' },
  { value: 'custom', label: 'From … to …' },
];
const FIRST: PeriodDraft = { since: '24', from: '', to: '' };

interface Progress {
  readonly resent: number;
  /** The part of the period that is left; undefined if nothing is left. */
  readonly rest: ResendPeriod | undefined;
}

export function ResendFailed({ endpointId }: { readonly endpointId: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [draft, setDraft] = useState(FIRST);
  const [isWrong, setWrong] = useState(false);
  const [progress, setProgress] = useState<Progress>();
  const path = `/webhook-endpoints/${endpointId}`;
  const change = useChange<ResentDeliveries>('post', `${path}/resend-failed`, [path]);
  const close = () => {
    setOpen(false);
    setProgress(undefined);
    setWrong(false);
    change.reset();
  };
  const send = async () => {
    const period = progress?.rest ?? periodOf(draft, Date.now());
    setWrong(period === undefined);
    if (period === undefined) return;
    const answer = await change.run(period);
    if (answer === undefined) return;
    const { resent, resume_from: from } = answer;
    const rest = from === null ? undefined : { from, to: period.to };
    setProgress((before) => ({ resent: (before?.resent ?? 0) + resent, rest }));
  };
  const isDone = progress !== undefined && progress.rest === undefined;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Resend failed</Button>
      <ConfirmDialog
        title="Send failed deliveries again?"
        consequence="Each event that failed in the period, and that no other delivery has brought or is about to bring, is sent once more, oldest first. Your server gets each with a new delivery id."
        confirm={progress === undefined ? 'Send again' : 'Send the next'}
        tone="primary"
        isOpen={isOpen && !isDone}
        isBusy={change.isRunning}
        failure={change.failure}
        onConfirm={() => void send()}
        onClose={close}
      >
        {progress === undefined ? (
          <PeriodFields draft={draft} onChange={setDraft} isWrong={isWrong} />
        ) : (
          <p role="status">{formatCount(progress.resent)} are sent again. There are more.</p>
        )}
      </ConfirmDialog>
      <Dialog title="Failed deliveries" isOpen={isOpen && isDone} onClose={close}>
        <p role="status">{doneText(progress?.resent ?? 0)}</p>
        <div className="dialog-actions">
          <Button tone="primary" onClick={close}>
            Close
          </Button>
        </div>
      </Dialog>
    </>
  );
}

function doneText(resent: number): string {
  if (resent === 0) return 'Nothing had to be sent again.';
  return resent === 1 ? 'One delivery is sent again.' : `${formatCount(resent)} deliveries are sent again.`;
}

interface PeriodFieldsProps {
  readonly draft: PeriodDraft;
  readonly onChange: (draft: PeriodDraft) => void;
  readonly isWrong: boolean;
}

function PeriodFields({ draft, onChange, isWrong }: PeriodFieldsProps): ReactNode {
  return (
    <>
      <SelectField
        label="Deliveries created in"
        value={draft.since}
        options={PERIODS}
        onChange={({ target }) => onChange({ ...draft, since: target.value })}
      />
      {draft.since === 'custom' && (
        <div className="pair">
          <Field
            label="From"
            hint="In your time zone."
            type="datetime-local"
            value={draft.from}
            onChange={({ target }) => onChange({ ...draft, from: target.value })}
          />
          <Field
            label="To"
            error={isWrong ? 'Choose a beginning, and an end after it.' : undefined}
            type="datetime-local"
            value={draft.to}
            onChange={({ target }) => onChange({ ...draft, to: target.value })}
          />
        </div>
      )}
    </>
  );
}
