/**
 * `<ChangeStatusDialog kind="challenge" contest facts allows label tone consequence body onClose/>`
 * says what follows from a change of a contest's status, and makes it if the operator confirms.
 */
import type { ReactNode } from 'react';
import { useChange } from '../../api/use-read.ts';
import type { Fact } from '../layout/changes-since.ts';
import { ConfirmItemDialog } from '../layout/confirm-item-dialog.tsx';
import { type ContestKind, FOLDERS } from './kinds.ts';

interface ChangeStatusDialogProps<T> {
  readonly kind: ContestKind;
  readonly contest: T;
  readonly facts: readonly Fact<T>[];
  /** Whether the action is still possible. */
  readonly allows: (now: T) => boolean;
  /** The verb of the action. */
  readonly label: string;
  readonly tone: 'primary' | 'danger';
  readonly consequence: string;
  /** The body of the call that changes the contest. */
  readonly body: unknown;
  readonly isIncomplete?: boolean;
  readonly onClose: () => void;
  /** The fields of the body that the operator fills in. */
  readonly children?: ReactNode;
}

interface Contest {
  readonly id: string;
  readonly name: string;
  readonly program_id: string;
}

export function ChangeStatusDialog<T extends Contest>(props: ChangeStatusDialogProps<T>): ReactNode {
  const { kind, contest, facts, allows, label, tone, consequence, body, isIncomplete = false, onClose } = props;
  const path = `/${FOLDERS[kind]}/${contest.id}`;
  const affects = [path, `/programs/${contest.program_id}/${FOLDERS[kind]}`, '/actions'];
  const change = useChange<unknown>('patch', path, affects);
  const run = async () => {
    if ((await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmItemDialog
      item={{ path, shown: contest, facts, subjects: [{ name: `${kind}:${contest.id}` }], affects }}
      allows={allows}
      title={`${label} ${contest.name}?`}
      consequence={consequence}
      confirm={label}
      tone={tone}
      isBusy={change.isRunning || isIncomplete}
      failure={change.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      {props.children}
    </ConfirmItemDialog>
  );
}
