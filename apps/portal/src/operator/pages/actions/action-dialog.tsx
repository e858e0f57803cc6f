import type { ReactNode } from 'react';
import type { OperatorAction } from '../../../api/api-types.ts';
import { Button } from '../../../kit/button.tsx';
import { Code } from '../../../kit/code-sample.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { capitalised, utcTime, words } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';

interface ActionDialogProps {
  /** The dialog is closed if the action is undefined. */
  readonly action: OperatorAction | undefined;
  readonly onClose: () => void;
}

/** Shows everything that the log has about one action. */
export function ActionDialog({ action, onClose }: ActionDialogProps): ReactNode {
  if (action === undefined) return null;
  const { before = null, after = null, request = null } = action;
  const parts = [
    { label: 'The request', value: request },
    { label: 'The subject before', value: before },
    { label: 'The subject afterwards', value: after },
  ];
  return (
    <Dialog title={capitalised(words(action.action))} isOpen onClose={onClose}>
      <Facts
        items={[
          { label: 'Operator', value: action.actor },
          { label: 'When', value: utcTime(action.at) },
          { label: 'Action', value: <Id value={action.id} what="action" /> },
          { label: 'Request', value: <Id value={action.request_id} what="request" /> },
        ]}
      />
      {parts.map(({ label, value }) => (
        <section key={label} className="action-part">
          <h3>{label}</h3>
          {value === null ? (
            <p className="muted">Nothing is recorded.</p>
          ) : (
            <Code text={JSON.stringify(value, null, 2)} label={label} />
          )}
        </section>
      ))}
      <div className="dialog-actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
