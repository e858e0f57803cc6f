import { type ReactNode, useState } from 'react';
import type { DescribedPayout } from '../../../api/api-types.ts';
import { Button } from '../../../kit/button.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { capitalised } from '../../../kit/format.ts';
import { Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { Time } from '../../../kit/time.tsx';
import { consequenceOf, type DecisionVerb } from './consequences.ts';
import { Decision } from './decision.tsx';
import { DESCRIBED_FACTS } from './facts.ts';
import { explainReason } from './reasons.ts';

const VERBS = ['release', 'deny'] as const satisfies readonly DecisionVerb[];

/** Shows why the payout was held and what was decided; while it is held, what can be decided. */
export function DecisionSection({ payout }: { readonly payout: DescribedPayout }): ReactNode {
  // If another operator decides the payout meanwhile, the dialog stays open and says so.
  const [asking, setAsking] = useState<DecisionVerb>();
  return (
    <Section title="Decision">
      {payout.reason !== null && <p>{explainReason(payout.reason)}</p>}
      {payout.status === 'held' ? <Choices payout={payout} onChoose={setAsking} /> : <Decided payout={payout} />}
      {asking !== undefined && (
        <Decision payout={payout} facts={DESCRIBED_FACTS} verb={asking} onClose={() => setAsking(undefined)} />
      )}
    </Section>
  );
}

interface ChoicesProps {
  readonly payout: DescribedPayout;
  readonly onChoose: (verb: DecisionVerb) => void;
}

function Choices({ payout, onChoose }: ChoicesProps): ReactNode {
  return (
    <dl className="payout-choices">
      {VERBS.map((verb) => (
        <div key={verb}>
          <dt>
            <Button tone={verb === 'release' ? 'primary' : 'plain'} onClick={() => onChoose(verb)}>
              {capitalised(verb)}
            </Button>
          </dt>
          <dd>{consequenceOf(verb, payout)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Decided({ payout: { status, reason, decision } }: { readonly payout: DescribedPayout }): ReactNode {
  if (reason === null) return <p>It was paid at once, so there was nothing to decide.</p>;
  if (decision === null) {
    return (
      <p>It was {status === 'paid' ? 'released' : status} by a release of Laurel that did not record who decided.</p>
    );
  }
  return (
    <Facts
      items={[
        {
          label: 'Decided',
          value: <Status value={decision.decision} tone={decision.decision === 'released' ? 'good' : 'bad'} />,
        },
        { label: 'By', value: decision.operator },
        { label: 'When', value: <Time at={decision.at} /> },
        { label: 'Reason', value: decision.reason ?? <span className="muted">none was given</span> },
      ]}
    />
  );
}
