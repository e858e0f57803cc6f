/** The account that plays an attempt, and what became of the attempt's prize. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AccountWithCharges, OperatorAttempt, Payout } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { Facts } from '../../../kit/facts.tsx';
import { words } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { Time } from '../../../kit/time.tsx';
import { AccountId, PayoutId } from '../../layout/item-ids.tsx';
import { AccountFlags } from '../accounts/concerns-view.tsx';
import { explainReason } from '../payouts/reasons.ts';

export function PayoutSection({ attempt }: { readonly attempt: OperatorAttempt }): ReactNode {
  const { payout } = attempt;
  return (
    <Section title="Payout">{payout === null ? <NoPayout attempt={attempt} /> : <Paid payout={payout} />}</Section>
  );
}

function Paid({ payout }: { readonly payout: Payout }): ReactNode {
  const { award_id: awardId, amount, status, reason, decision } = payout;
  return (
    <Facts
      items={[
        {
          label: 'Amount',
          value: (
            <>
              <Money amount={amount} /> <Status value={status} />
            </>
          ),
        },
        {
          label: status === 'held' ? 'Decide' : 'Payout',
          value: <PayoutId value={awardId} isShort />,
        },
        { label: 'Why it was held', value: reason === null ? 'it was not' : explainReason(reason) },
        ...(decision === null
          ? []
          : [
              {
                label: 'Decision',
                value: (
                  <>
                    {words(decision.decision)} by {decision.operator} <Time at={decision.at} />
                    {decision.reason !== null && `: ${decision.reason}`}
                  </>
                ),
              },
            ]),
      ]}
    />
  );
}

function NoPayout({ attempt }: { readonly attempt: OperatorAttempt }): ReactNode {
  const { award, status, tournament_round_id: roundId } = attempt;
  if (award !== null) return <p>The prize is won, and its payout is under way: it appears here by itself.</p>;
  if (roundId !== null) return <p className="muted">None: a round pays its ranks once it is settled.</p>;
  return <p className="muted">{status === 'open' ? 'None yet.' : 'The attempt has won nothing.'}</p>;
}

export function AccountSection({ accountId }: { readonly accountId: string | null }): ReactNode {
  return (
    <Section title="Account">
      {accountId === null ? (
        <p className="muted">None: a player who was not linked to an account played for free.</p>
      ) : (
        <Account accountId={accountId} />
      )}
    </Section>
  );
}

function Account({ accountId }: { readonly accountId: string }): ReactNode {
  return (
    <Loaded reading={useRead<AccountWithCharges>(`/accounts/${accountId}`)}>
      {(account) => (
        <Facts
          items={[
            { label: 'E-mail', value: account.email },
            { label: 'Flags', value: <AccountFlags account={account} /> },
            { label: 'Verification level', value: account.verification_level },
            { label: 'Account', value: <AccountId value={account.id} isShort /> },
            {
              label: 'Played',
              value: (
                <Link to="/attempts" search={{ account_id: account.id }}>
                  All its attempts
                </Link>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}
