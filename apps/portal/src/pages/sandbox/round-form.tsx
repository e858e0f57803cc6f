import { type ReactNode, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Section } from '../../kit/page.tsx';
import type { Contest } from './contests.ts';
import { LastResult } from './steps.tsx';
import type { Sandbox } from './use-sandbox.ts';

interface RoundFormProps {
  readonly sandbox: Sandbox;
  readonly round: Contest;
}

export function RoundForm({ sandbox, round }: RoundFormProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const close = () => {
    setAsking(false);
    sandbox.run({ kind: 'close-round', roundId: round.id });
  };
  return (
    <Section title="Round">
      <p className="hint">Skip the wait for the last ten minutes of the round, or for its end.</p>
      <div className="sandbox-buttons">
        <Button
          isBusy={sandbox.running === 'close-entries'}
          onClick={() => sandbox.run({ kind: 'close-entries', roundId: round.id })}
        >
          Close entries
        </Button>
        <Button tone="danger" isBusy={sandbox.running === 'close-round'} onClick={() => setAsking(true)}>
          Close the round
        </Button>
      </div>
      <LastResult kinds={['close-entries', 'close-round']} />
      <ConfirmDialog
        title="Close the round now?"
        consequence={`The round of ${round.name} ends for every player: open attempts expire and their fees return, the ranks become final and the purse is paid. A round with too few players is cancelled. Neither can be undone.`}
        confirm="Close it"
        isOpen={isAsking}
        isBusy={false}
        failure={undefined}
        onConfirm={close}
        onClose={() => setAsking(false)}
      />
    </Section>
  );
}
