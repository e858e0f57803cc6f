import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Environment, OperatorChallenge, PrizeStructure } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Field, SelectField } from '../../../kit/field.tsx';
import { FieldGroup } from '../../../kit/form.tsx';
import { GameFields, NewContestPage } from '../../contests/new-contest-page.tsx';
import { challengeRequestOf } from './challenge-request.ts';

const route = getRouteApi('/shell/programs/$programId/challenges/new');

type FirstStatus = 'calibrating' | 'live';

export function NewChallengePage(): ReactNode {
  const { programId } = route.useParams();
  const navigate = route.useNavigate();
  const [environment, setEnvironment] = useState<Environment>(route.useSearch().environment ?? 'live');
  const [structure, setStructure] = useState<PrizeStructure>('threshold');
  const [status, setStatus] = useState<FirstStatus>('calibrating');
  const path = `/programs/${programId}/challenges`;
  const change = useChange<OperatorChallenge>('post', path, [path, '/actions']);
  const create = async (form: FormData) => {
    const challenge = await change.run(challengeRequestOf(form));
    if (challenge !== undefined) {
      void navigate({ to: '/challenges/$challengeId', params: { challengeId: challenge.id } });
    }
  };
  return (
    <NewContestPage
      kind="challenge"
      programId={programId}
      environment={environment}
      change={change}
      onSubmit={(form) => void create(form)}
    >
      <GameFields environment={environment} onEnvironment={setEnvironment}>
        <Field
          label="Lowest plausible score"
          name="score_min"
          hint="A score below it disqualifies the attempt. Empty: any."
          inputMode="decimal"
        />
        <Field
          label="Highest plausible score"
          name="score_max"
          hint="A score above it disqualifies the attempt. Empty: any."
          inputMode="decimal"
        />
      </GameFields>
      <MoneyFields structure={structure} onStructure={setStructure} />
      <BarFields structure={structure} status={status} onStatus={setStatus} />
      <PlayerFields />
      <p>{consequenceOf(environment, structure === 'top_n' ? 'live' : status)}</p>
    </NewContestPage>
  );
}

function consequenceOf(environment: Environment, status: FirstStatus): string {
  const who = environment === 'live' ? 'real players' : 'sandbox players';
  const money = environment === 'live' ? 'real money' : 'play money';
  const begins =
    status === 'calibrating'
      ? `It begins calibrating: attempts are free and win nothing. Once the bar is placed it goes live by itself, and ${who} pay the fee for a chance of the prize, in ${money}.`
      : `It is live at once: ${who} pay the fee for a chance of the prize, in ${money}.`;
  return `${begins} Its terms cannot be changed afterwards: it can be suspended, and closed.`;
}

interface MoneyFieldsProps {
  readonly structure: PrizeStructure;
  readonly onStructure: (structure: PrizeStructure) => void;
}

function MoneyFields({ structure, onStructure }: MoneyFieldsProps): ReactNode {
  return (
    <FieldGroup title="Fee and prize">
      <Field label="Fee, in US dollars" name="fee" hint="For one paid attempt, as 1.00." inputMode="decimal" required />
      <Field
        label="Prize, in US dollars"
        name="prize"
        hint="As 5.00. Above the ceiling of the tier, attempts are refused."
        inputMode="decimal"
        required
      />
      <SelectField
        label="Integrity tier"
        name="integrity_tier"
        options={[
          { value: '1', label: '1: prizes up to $25.00' },
          { value: '2', label: '2: prizes up to $250.00' },
          { value: '3', label: '3: prizes up to $2,500.00' },
        ]}
      />
      <SelectField
        label="Prize goes to"
        name="prize_structure"
        value={structure}
        onChange={({ target }) => onStructure(target.value === 'top_n' ? 'top_n' : 'threshold')}
        options={[
          { value: 'threshold', label: 'Each player whose score clears the bar' },
          { value: 'top_n', label: 'Each player with one of the best scores so far' },
        ]}
      />
      {structure === 'top_n' && (
        <Field
          label="How many of the best scores"
          name="top_n"
          hint="The bar is the last of them."
          inputMode="numeric"
          required
        />
      )}
    </FieldGroup>
  );
}

interface BarFieldsProps {
  readonly structure: PrizeStructure;
  readonly status: FirstStatus;
  readonly onStatus: (status: FirstStatus) => void;
}

function BarFields({ structure, status, onStatus }: BarFieldsProps): ReactNode {
  const isTopN = structure === 'top_n';
  return (
    <FieldGroup title="The bar">
      <Field
        label="Target pass rate"
        name="target_pass_rate"
        hint="The share of attempts that clear the bar: 0.2 is one of five."
        inputMode="decimal"
        required
      />
      {!isTopN && (
        <SelectField
          label="Begins"
          name="status"
          value={status}
          onChange={({ target }) => onStatus(target.value === 'live' ? 'live' : 'calibrating')}
          options={[
            { value: 'calibrating', label: 'Calibrating: scores place the bar' },
            { value: 'live', label: 'Live: with a bar from the start' },
          ]}
        />
      )}
      {!isTopN && status === 'live' && (
        <Field
          label="Bar"
          name="threshold"
          hint="It counts as observed and has no ramp. Empty for a rung: the scores of the rung before give it."
          inputMode="decimal"
        />
      )}
      {!isTopN && status === 'calibrating' && (
        <>
          <Field
            label="Scores of a calibration"
            name="min_calibration_n"
            hint="Empty: 200, or 40 divided by the target pass rate if that is more."
            inputMode="numeric"
          />
          <Field
            label="Players of a calibration"
            name="min_calibration_players"
            hint="Empty: 20. At a target of 0.1 or less ask for more, or one player can place the bar."
            inputMode="numeric"
          />
        </>
      )}
      <Field
        label="Rung before"
        name="parent_challenge_id"
        hint="The id of a challenge that a player has to win first. Empty: none."
      />
    </FieldGroup>
  );
}

function PlayerFields(): ReactNode {
  return (
    <FieldGroup title="Who may play">
      <Field
        label="Paid attempts of a player in 24 hours"
        name="daily_attempt_cap"
        hint="Empty: 10."
        inputMode="numeric"
      />
      <SelectField
        label="Verification level of a player"
        name="required_verification_level"
        options={[
          { value: '0', label: '0 or more' },
          { value: '1', label: '1 or more' },
          { value: '2', label: '2 or more' },
          { value: '3', label: '3' },
        ]}
      />
      <Field
        label="Jurisdictions"
        name="jurisdictions"
        hint="As “US-CA, GB”. Empty: everywhere that the host serves."
      />
    </FieldGroup>
  );
}
