/**
 * `<Dialog title isOpen onClose>...</Dialog>`: a modal dialog. Its content exists only while it is
 * open.
 */
import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import type { Failure } from '../api/failure.ts';
import { Button } from './button.tsx';
import { Code } from './code-sample.tsx';
import { FailureLine } from './problem.tsx';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, children }: DialogProps): ReactNode {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className="dialog">
          <Base.Title className="dialog-title">{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmDialogProps {
  /** A question: "Replace the test key?" */
  readonly title: string;
  /** What happens at once, as "The old key stops at once: ...". */
  readonly consequence: ReactNode;
  /** The verb of the confirming button, such as "Replace". */
  readonly confirm: string;
  readonly tone?: 'primary' | 'danger';
  readonly isOpen: boolean;
  readonly isBusy: boolean;
  readonly failure: Failure | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** Fields between the consequence and the buttons. */
  readonly children?: ReactNode;
}

/** Asks before a change, and states what the change does. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { title, consequence, confirm, tone = 'danger', isOpen, isBusy, failure, onConfirm, onClose, children } = props;
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <Base.Description className="dialog-text">{consequence}</Base.Description>
      {children}
      <FailureLine failure={failure} />
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button tone={tone} isBusy={isBusy} onClick={onConfirm}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}

interface SecretDialogProps {
  /** "The new test key". */
  readonly title: string;
  /** The secret is undefined while there is nothing to show: the dialog is then closed. */
  readonly secret: string | undefined;
  /** The text says where the secret belongs, and that it is not shown again. */
  readonly children: ReactNode;
  /** The function forgets the secret. */
  readonly onClose: () => void;
}

/** Shows a secret once. The caller keeps it only in the state that `onClose` clears. */
export function SecretDialog({ title, secret, children, onClose }: SecretDialogProps): ReactNode {
  return (
    <Dialog title={title} isOpen={secret !== undefined} onClose={onClose}>
      {secret !== undefined && (
        <>
          <Base.Description className="dialog-text">{children}</Base.Description>
          <Code text={secret} label={title} />
          <div className="dialog-actions">
            <Button tone="primary" onClick={onClose}>
              I have stored it
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
