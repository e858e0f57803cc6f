/** What a step of the quick start needs: its next call, with the ids that the portal knows. */
import type { ReactNode } from 'react';
import type {
  AttemptList,
  Environment,
  ProgramChallengeList,
  RequestDetails,
  RequestList,
  WebhookEndpointList,
} from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { attemptSamples, challengeListSamples, EXAMPLE_PLAYER } from '../../kit/samples.ts';
import { useProgram } from '../../layout/program.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';
import { endpointSamples, linkSamples, reportSamples } from './next-calls.ts';
import { playerRefOf, type StepName } from './quick-start.ts';

export const STEP_TITLES: Readonly<Record<StepName, (environment: Environment) => string>> = {
  key: (environment) => `Use your ${environment} key`,
  player: () => 'Link a player',
  attempt: () => 'Create an attempt',
  outcome: () => 'Report its outcome',
  endpoint: () => 'Register a webhook endpoint',
  webhook: () => 'Receive a webhook',
};

const STEPS: Readonly<Record<StepName, () => ReactNode>> = {
  key: UseKey,
  player: LinkPlayer,
  attempt: CreateAttempt,
  outcome: ReportOutcome,
  endpoint: RegisterEndpoint,
  webhook: ReceiveWebhook,
};

export function NextCall({ step }: { readonly step: StepName }): ReactNode {
  const Content = STEPS[step];
  return <Content />;
}

function useSamples() {
  const { environment, programId } = useProgram();
  return { samples: { environment, origin: window.location.origin }, environment, programId };
}

function UseKey(): ReactNode {
  const { environment, program } = useProgram();
  const hasKey = program.keys.some((key) => key.environment === environment);
  return (
    <>
      <p>
        {hasKey
          ? 'Your server sends its key in the header X-API-Key. A lost key cannot be shown again, only replaced: '
          : 'An operator of this host gives out the live key when the program is approved: '}
        <ProgramLink path="/keys">API keys</ProgramLink>.
      </p>
      <CodeSample title="List the challenges" samples={challengeListSamples(environment)} />
    </>
  );
}

function LinkPlayer(): ReactNode {
  const { environment, programId, samples } = useSamples();
  return (
    <>
      {environment === 'test' ? (
        <p>
          Make a player with play money, then link the account by its e-mail, as your server does in live. The{' '}
          <ProgramLink path="/sandbox">sandbox console</ProgramLink> makes players too.
        </p>
      ) : (
        <p>Link your own identifier of a player to the account that has this e-mail.</p>
      )}
      <CodeSample title="Link a player" samples={linkSamples(samples, programId)} />
    </>
  );
}

function CreateAttempt(): ReactNode {
  const { environment, pathOf } = useProgram();
  const query = { environment, route: '/v1/players', status: '2xx', limit: 1 };
  return (
    <Loaded reading={useRead<RequestList>(pathOf('/requests'), query)}>
      {({ data: [link] }) =>
        link === undefined ? <CreateFor playerRef={EXAMPLE_PLAYER} /> : <CreateForLinked requestId={link.request_id} />
      }
    </Loaded>
  );
}

/** The request that linked a player has the player's name in its response. */
function CreateForLinked({ requestId }: { readonly requestId: string }): ReactNode {
  const { pathOf } = useProgram();
  return (
    <Loaded reading={useRead<RequestDetails>(pathOf(`/requests/${requestId}`))}>
      {({ response_body }) => <CreateFor playerRef={playerRefOf(response_body) ?? EXAMPLE_PLAYER} />}
    </Loaded>
  );
}

function CreateFor({ playerRef }: { readonly playerRef: string }): ReactNode {
  const { environment, pathOf } = useProgram();
  const challenges = useRead<ProgramChallengeList>(pathOf('/challenges'), { environment, status: 'live', limit: 1 });
  return (
    <Loaded reading={challenges}>
      {({ data: [challenge] }) => (
        <>
          <p>
            {challenge === undefined ? (
              <>
                The program has no live challenge in {environment} yet; an operator of this host creates it. Its id
                replaces CHALLENGE_ID.{' '}
              </>
            ) : (
              <>An attempt at “{challenge.name}” charges its fee, once for each idempotency key. </>
            )}
            <ProgramLink path="/challenges">Challenges</ProgramLink>
          </p>
          <CodeSample
            title="Create an attempt"
            samples={attemptSamples(environment, {
              challenge_id: challenge?.id ?? 'CHALLENGE_ID',
              player_ref: playerRef,
            })}
          />
        </>
      )}
    </Loaded>
  );
}

function ReportOutcome(): ReactNode {
  const { pathOf } = useProgram();
  const { environment, samples } = useSamples();
  // A new attempt is listed a little later than it is created.
  const query = { environment, status: 'open', limit: 1 };
  const open = useRead<AttemptList>(pathOf('/attempts'), query, { refreshMs: 2_000 });
  return (
    <Loaded reading={open}>
      {({ data: [attempt] }) => (
        <>
          <p>
            {attempt === undefined
              ? 'No attempt is open now. Create one, and report its score within an hour. '
              : 'Report the score that you measured. Laurel decides whether it won. '}
            <ProgramLink path="/attempts">Attempts</ProgramLink>
          </p>
          <CodeSample title="Report an outcome" samples={reportSamples(samples, attempt?.id ?? 'ATTEMPT_ID')} />
        </>
      )}
    </Loaded>
  );
}

function RegisterEndpoint(): ReactNode {
  const { programId, samples, environment } = useSamples();
  return (
    <>
      <p>
        Register it on the page <ProgramLink path="/webhooks">Webhooks</ProgramLink>, or by the call: LAUREL_SESSION is
        the token of <code>POST /api/portal/session</code>. The signing secret is shown once.
      </p>
      {environment === 'test' && (
        <p className="muted">
          A server on your own machine needs no endpoint: <code>laurel listen</code> of the SDK forwards the events.
        </p>
      )}
      <CodeSample title="Register an endpoint, and verify" samples={endpointSamples(samples, programId)} />
    </>
  );
}

/**
 * A test event belongs to no program, so it does not tick the step. The event of an outcome does.
 */
function ReceiveWebhook(): ReactNode {
  const { environment, programId } = useProgram();
  return (
    <>
      <Loaded reading={useRead<WebhookEndpointList>('/webhook-endpoints')}>
        {({ data }) => {
          const endpoint = data.find(
            (one) => [programId, null].includes(one.program_id) && [environment, null].includes(one.environment),
          );
          return (
            <p>
              {endpoint === undefined ? (
                'Register an endpoint first. '
              ) : (
                <>
                  The next outcome sends <code>attempt.settled</code> to <code>{endpoint.url}</code>.{' '}
                </>
              )}
              What was sent, and a test event: <ProgramLink path="/webhooks">Webhooks</ProgramLink>
            </p>
          );
        }}
      </Loaded>
      <ReportOutcome />
    </>
  );
}
