import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { DescribedPayout, Program } from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { Facts } from '../../../kit/facts.tsx';
import { money } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AccountId } from '../../layout/item-ids.tsx';
import { AccountFlags } from '../accounts/concerns-view.tsx';
import { DecisionSection } from './decision-section.tsx';
import { LimitsTable } from './limits-table.tsx';
import { OtherPayouts } from './other-payouts.tsx';
import { WonByAttempt } from './won-by-attempt.tsx';
import { WonByRank } from './won-by-rank.tsx';
import './payouts.css';

const route = getRouteApi('/shell/payouts/$awardId');

/**
 * Shows decisions of other operators, and payouts that change the sums, after this time at most.
 */
const REFRESH_MS = 10_000;

export function PayoutPage(): ReactNode {
  const { awardId } = route.useParams();
  const reading = useRead<DescribedPayout>(
    `/payouts/${awardId}`,
    {},
    { refreshMs: REFRESH_MS, refreshUntil: ({ status }) => status !== 'held' },
  );
  const above = (
    <Link to="/payouts" search={{ status: 'held' }}>
      Held payouts
    </Link>
  );
  if (reading.state !== 'loaded') {
    return (
      <Page title="Payout" above={above}>
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  const payout = reading.data;
  const { attempt_id: attemptId, round_id: roundId, account_id: accountId } = payout;
  return (
    <Page
      title={`Payout of ${money(payout.amount)}`}
      above={above}
      beside={
        <>
          <Status value={payout.status} /> <EnvironmentBadge value={payout.environment} />
        </>
      }
    >
      <DecisionSection payout={payout} />
      <PayoutFacts payout={payout} />
      <div className="columns">
        <AccountSection payout={payout} />
        <Section title="Limits of 24 hours">
          <LimitsTable payout={payout} />
          <p className="muted">
            In {payout.environment} alone. An award over a limit is held. A release is paid all the same, and counts.
          </p>
        </Section>
      </div>
      {attemptId === null ? (
        <WonByRank roundId={roundId ?? ''} accountId={accountId} />
      ) : (
        <WonByAttempt attemptId={attemptId} />
      )}
      <Section
        title="Other payouts to the account"
        actions={
          <Link to="/payouts" search={{ account_id: accountId }}>
            All its payouts
          </Link>
        }
      >
        <OtherPayouts of={payout} />
      </Section>
    </Page>
  );
}

function PayoutFacts({ payout }: { readonly payout: DescribedPayout }): ReactNode {
  const { program_id: programId } = payout;
  const program = useRead<Program>(`/programs/${programId}`);
  return (
    <Facts
      items={[
        { label: 'Award', value: <Id value={payout.award_id} what="award" /> },
        {
          label: 'Program',
          value: (
            <Link to="/programs/$programId" params={{ programId }}>
              {program.state === 'loaded' ? program.data.name : '…'}
            </Link>
          ),
        },
        { label: 'Won', value: <Time at={payout.created_at} /> },
        { label: 'Paid', value: payout.paid_at === null ? 'not paid' : <Time at={payout.paid_at} /> },
        {
          label: 'History',
          value: (
            <Link to="/actions" search={{ subject: `award:${payout.award_id}` }}>
              What operators did
            </Link>
          ),
        },
      ]}
    />
  );
}

function AccountSection({ payout: { account } }: { readonly payout: DescribedPayout }): ReactNode {
  return (
    <Section title="Account">
      <Facts
        items={[
          { label: 'E-mail', value: account.email },
          { label: 'Flags', value: <AccountFlags account={account} /> },
          { label: 'Verification level', value: String(account.verification_level) },
          { label: 'Kind', value: account.sandbox_only ? 'sandbox' : 'a person' },
          {
            label: 'Self-excluded',
            value:
              account.self_excluded_until === null ? (
                'no'
              ) : (
                <>
                  until <Time at={account.self_excluded_until} />
                </>
              ),
          },
          { label: 'Account', value: <AccountId value={account.id} /> },
        ]}
      />
    </Section>
  );
}
