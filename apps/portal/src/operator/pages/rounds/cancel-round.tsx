/** `<CancelRound round />`: a button, and the dialog that cancels the round. */
import { type ReactNode, useState } from 'react';
import type { CancelRoundRequest, OperatorRound } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { TextField } from '../../../kit/field.tsx';
import { formatCount, money } from '../../../kit/format.ts';
import type { Fact } from '../../layout/changes-since.ts';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';

/** The commit that makes every fee of a round due takes seconds for a hundred thousand entries. */
const CANCEL_TIMEOUT_MS = 65_000;

/** The number of entrants is left out: it grows all the time without affecting the decision. */
const ROUND_FACTS: readonly Fact<OperatorRound>[] = [
  { label: 'Status', of: ({ status }) => status },
  {
    label: 'Cancelled',
    of: ({ cancellation }) => (cancellation === null ? 'no' : `by ${cancellation.operator}: ${cancellation.reason}`),
  },
];

export function canCancel({ status, cancellation }: OperatorRound): boolean {
  return status === 'open' && cancellation === null;
}

export function CancelRound({ round }: { readonly round: OperatorRound }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      {canCancel(round) && <Button onClick={() => setAsking(true)}>Cancel the round</Button>}
      {isAsking && <Question round={round} onClose={() => setAsking(false)} />}
    </>
  );
}

interface QuestionProps {
  readonly round: OperatorRound;
  readonly onClose: () => void;
}

function Question({ round, onClose }: QuestionProps): ReactNode {
  const [reason, setReason] = useState('');
  const path = `/rounds/${round.id}`;
  const tournaments = `/programs/${round.program_id}/tournaments`;
  const affects = [path, `/tournaments/${round.tournament_id}`, tournaments, '/actions'];
  const change = useChange<OperatorRound>('post', `${path}/cancel`, affects, { timeoutMs: CANCEL_TIMEOUT_MS });
  const cancel = async () => {
    const body: CancelRoundRequest = { reason: reason.trim() };
    if ((await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmItemDialog
      item={{ path, shown: round, facts: ROUND_FACTS, subjects: [{ name: `round:${round.id}` }], affects }}
      allows={canCancel}
      title={`Cancel this round of ${round.tournament_name ?? 'the tournament'}?`}
      consequence={consequenceOf(round)}
      confirm="Cancel the round"
      tone="danger"
      isBusy={change.isRunning || reason.trim() === ''}
      failure={change.failure}
      onConfirm={() => void cancel()}
      onClose={onClose}
    >
      <TextField
        label="Reason"
        hint="Kept with the round, for operators only."
        rows={2}
        maxLength={1_000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </ConfirmItemDialog>
  );
}

function consequenceOf({ entrant_count, purse_amount, environment }: OperatorRound): string {
  const entrants = `${formatCount(entrant_count)} ${entrant_count === 1 ? 'entrant gets' : 'entrants get'}`;
  const kind = environment === 'live' ? 'real money' : 'play money';
  return `No entry and no score is accepted from now on. ${entrants} every fee back, scored or not, in ${kind}; nothing of the purse of ${money(purse_amount)} is paid. The partner gets attempt.refunded for each attempt, then round.cancelled. The next round opens as after any other: to have none, pause the tournament first. This is final.`;
}
