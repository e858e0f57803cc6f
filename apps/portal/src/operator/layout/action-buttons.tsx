/**
 * `<ActionButtons actions={['suspend']} calls={CALLS} onChoose={setAsking} />`: a button for each
 * action that an item offers now. A dangerous action stands out only in its dialog.
 */
import type { ReactNode } from 'react';
import { Button } from '../../kit/button.tsx';

interface ActionButtonsProps<Action extends string> {
  readonly actions: readonly Action[];
  readonly calls: Readonly<Record<Action, { readonly label: string; readonly tone: 'primary' | 'danger' }>>;
  readonly onChoose: (action: Action) => void;
}

export function ActionButtons<Action extends string>(props: ActionButtonsProps<Action>): ReactNode {
  const { actions, calls, onChoose } = props;
  return actions.map((action) => (
    <Button key={action} tone={calls[action].tone === 'primary' ? 'primary' : 'plain'} onClick={() => onChoose(action)}>
      {calls[action].label}
    </Button>
  ));
}
