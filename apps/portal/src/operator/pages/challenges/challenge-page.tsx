import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type {
  ChallengeStatistics,
  ChallengeStatusChange,
  ChallengeWithStatusChange,
  DriftReport,
} from '../../../api/api-types.ts';
import { useRead } from '../../../api/use-read.ts';
import { TermsSection } from '../../../contests/challenge-terms.tsx';
import { barWords, causeWords, formatOdds, statusWords } from '../../../contests/challenge-words.ts';
import { Prize } from '../../../contests/prize.tsx';
import { StatisticsSections } from '../../../contests/statistics-sections.tsx';
import { StatusHistory } from '../../../contests/status-history.tsx';
import { Facts } from '../../../kit/facts.tsx';
import { formatCount, formatShare } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import type { Column } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { AttemptsLink } from '../../layout/attempts-link.tsx';
import { EnvironmentBand } from '../../layout/environments.tsx';
import { ChallengeId } from '../../layout/item-ids.tsx';
import { ProgramName } from '../../layout/program-name.tsx';
import { BarSection } from './bar-section.tsx';
import { ChallengeActions } from './challenge-actions.tsx';

const route = getRouteApi('/shell/challenges/$challengeId');
const REFRESH_MS = 30_000;

export function ChallengePage(): ReactNode {
  const { challengeId } = route.useParams();
  const reading = useRead<ChallengeWithStatusChange>(`/challenges/${challengeId}`, {}, { refreshMs: REFRESH_MS });
  if (reading.state !== 'loaded') {
    return (
      <Page title="Challenge">
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  const challenge = reading.data;
  const { program_id: programId, environment } = challenge;
  return (
    <Page
      title={challenge.name}
      above={
        <Link to="/programs/$programId/challenges" params={{ programId }} search={{ environment }}>
          Challenges of <ProgramName programId={programId} />
        </Link>
      }
      beside={<Status value={challenge.status} />}
      actions={<ChallengeActions challenge={challenge} />}
    >
      <EnvironmentBand environment={environment} />
      <p>{statusWords(challenge, challenge.status_change?.cause)}</p>
      <LastChange challenge={challenge} />
      <MainFacts challenge={challenge} />
      <TermsSection challenge={challenge} parent={<ChallengeId value={challenge.parent_challenge_id ?? ''} />} />
      <Monitored challenge={challenge} />
    </Page>
  );
}

interface ChallengeProps {
  readonly challenge: ChallengeWithStatusChange;
}

/** Shows the last change of the status, with its reason. */
function LastChange({ challenge: { status_change: change } }: ChallengeProps): ReactNode {
  if (change === null) return null;
  return (
    <p>
      Its status changed <Time at={change.at} />: {causeWords(change.cause)}.
      {change.note !== null && <> Note: “{change.note}”</>}
    </p>
  );
}

function MainFacts({ challenge }: ChallengeProps): ReactNode {
  const { id, program_id, environment } = challenge;
  return (
    <Facts
      items={[
        { label: 'Fee', value: <Money amount={challenge.fee} /> },
        { label: 'Prize on offer', value: <Prize challenge={challenge} /> },
        { label: 'Bar', value: barWords(challenge) },
        { label: 'Target pass rate', value: formatShare(challenge.target_pass_rate) },
        { label: 'Attempts', value: <AttemptsLink of={{ program_id, environment, challenge_id: id }} /> },
        {
          label: 'History',
          value: (
            <Link to="/actions" search={{ subject: `challenge:${id}` }}>
              What operators did
            </Link>
          ),
        },
        { label: 'Id', value: <Id value={id} what="challenge" /> },
      ]}
    />
  );
}

/**
 * Shows what the attempts since the start of the monitor say about the bar, and the changes of the
 * status.
 */
function Monitored({ challenge }: ChallengeProps): ReactNode {
  const path = `/challenges/${challenge.id}`;
  const statistics = useRead<ChallengeStatistics>(`${path}/statistics`, {}, { refreshMs: REFRESH_MS });
  const drift = useRead<DriftReport>(`${path}/drift`, {}, { refreshMs: REFRESH_MS });
  return (
    <>
      <Loaded reading={statistics}>
        {(found) => (
          <StatisticsSections
            challenge={challenge}
            statistics={found}
            barSection={<BarSection challenge={challenge} />}
            driftFacts={<Loaded reading={drift}>{(report) => <DriftFacts report={report} />}</Loaded>}
          />
        )}
      </Loaded>
      <Section title="Status history">
        <Loaded reading={drift}>
          {({ changes }) => <StatusHistory changes={changes.map(stepOf)} moreColumns={EVIDENCE} />}
        </Loaded>
      </Section>
    </>
  );
}

function DriftFacts({ report }: { readonly report: DriftReport }): ReactNode {
  const { claimed, attempts, passes, pass_rate, attempts_before_judging, started_at } = report;
  return (
    <Facts
      items={[
        { label: 'Claimed pass rate', value: `${formatShare(claimed.low)} to ${formatShare(claimed.high)}` },
        {
          label: 'Observed pass rate',
          value:
            pass_rate === null
              ? 'No attempts yet'
              : `${formatShare(pass_rate)}: ${formatCount(passes)} of ${formatCount(attempts)}`,
        },
        { label: 'Judges from', value: `${formatCount(attempts_before_judging)} attempts on` },
        { label: 'Monitor started', value: <Time at={started_at} /> },
      ]}
    />
  );
}

function stepOf({ changed_at, ...change }: ChallengeStatusChange) {
  return { ...change, at: changed_at };
}

const EVIDENCE: readonly Column<ReturnType<typeof stepOf>>[] = [
  { name: 'Evidence', grow: 2, cell: ({ evidence }) => <Evidence evidence={evidence} /> },
];

function Evidence({ evidence }: Pick<ChallengeStatusChange, 'evidence'>): ReactNode {
  if (evidence === null) return <span className="muted">–</span>;
  const { attempts, passes, log_ratio_above, log_ratio_below } = evidence;
  return `${formatCount(passes)} of ${formatCount(attempts)} cleared the bar. Too easy ${formatOdds(log_ratio_above)}, too hard ${formatOdds(log_ratio_below)}.`;
}
