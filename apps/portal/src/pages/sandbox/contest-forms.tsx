/** The middle of the console: choose a challenge or a round, pay, report, and end what runs. */
import { type ReactNode, useState } from 'react';
import type { OperatorChallenge, OperatorTournament } from '../../api/api-types.ts';
import { type List, useList } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { Empty } from '../../kit/empty.tsx';
import { SelectField } from '../../kit/field.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Section } from '../../kit/page.tsx';
import { More } from '../../kit/table.tsx';
import { useProgram } from '../../layout/program.tsx';
import { AttemptForm } from './attempt-form.tsx';
import { contestsOf, labelOf } from './contests.ts';
import { RoundForm } from './round-form.tsx';
import { LastResult } from './steps.tsx';
import type { Sandbox } from './use-sandbox.ts';

interface ContestFormsProps {
  readonly sandbox: Sandbox;
  readonly playerRef: string;
}

export function ContestForms({ sandbox, playerRef }: ContestFormsProps): ReactNode {
  const { environment, pathOf } = useProgram();
  const challenges = useList<OperatorChallenge>(pathOf('/challenges'), { environment });
  const tournaments = useList<OperatorTournament>(pathOf('/tournaments'), { environment });
  return (
    <Loaded reading={challenges}>
      {(challengeList) => (
        <Loaded reading={tournaments}>
          {(tournamentList) => (
            <Chosen sandbox={sandbox} playerRef={playerRef} challenges={challengeList} tournaments={tournamentList} />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

interface ChosenProps extends ContestFormsProps {
  readonly challenges: List<OperatorChallenge>;
  readonly tournaments: List<OperatorTournament>;
}

function Chosen({ sandbox, playerRef, challenges, tournaments }: ChosenProps): ReactNode {
  const [chosen, setChosen] = useState<string>();
  const contests = contestsOf(challenges.rows, tournaments.rows);
  const contest = contests.find(({ key }) => key === chosen) ?? contests[0];
  const more = [challenges, tournaments].find(({ hasMore }) => hasMore);
  return (
    <>
      <Section title="Challenge or round">
        {contest === undefined ? (
          <Empty title="Nothing to play yet">
            <p>An operator of this host opens the challenges and tournaments of your program in test.</p>
          </Empty>
        ) : (
          <div className="sandbox-form">
            <SelectField
              label="To play"
              hint={contest.goal}
              options={contests.map((one) => ({ value: one.key, label: labelOf(one) }))}
              value={contest.key}
              onChange={(event) => setChosen(event.target.value)}
            />
            <div className="sandbox-buttons">
              <Button
                tone="primary"
                disabled={playerRef === ''}
                isBusy={sandbox.running === 'create-attempt'}
                onClick={() =>
                  sandbox.run({
                    kind: 'create-attempt',
                    body:
                      contest.kind === 'challenge'
                        ? { challenge_id: contest.id, player_ref: playerRef }
                        : { tournament_round_id: contest.id, player_ref: playerRef },
                    idempotencyKey: `sandbox-${crypto.randomUUID()}`,
                  })
                }
              >
                Create an attempt
              </Button>
            </div>
            <LastResult kinds={['create-attempt']} />
          </div>
        )}
        {more !== undefined && <More list={more} />}
      </Section>
      <AttemptForm sandbox={sandbox} contest={contest} />
      {contest?.kind === 'round' && <RoundForm sandbox={sandbox} round={contest} />}
    </>
  );
}
