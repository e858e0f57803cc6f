import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Environment, OperatorTournament } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Field, SelectField, TextField } from '../../../kit/field.tsx';
import { FieldGroup, Form } from '../../../kit/form.tsx';
import { Page } from '../../../kit/page.tsx';
import { EnvironmentBand } from '../../layout/environments.tsx';
import { PurseFields } from './purse-fields.tsx';
import type { TypedGroup } from './purse-groups.ts';
import { LENGTH_UNITS, tournamentRequestOf } from './tournament-request.ts';

const route = getRouteApi('/shell/programs/$programId/tournaments/new');

const DIRECTIONS = [
  { value: 'higher_is_better', label: 'Higher' },
  { value: 'lower_is_better', label: 'Lower' },
];

export function NewTournamentPage(): ReactNode {
  const { programId } = route.useParams();
  const navigate = route.useNavigate();
  const [environment, setEnvironment] = useState<Environment>(route.useSearch().environment ?? 'live');
  const [purse, setPurse] = useState<readonly TypedGroup[]>([{ key: 0, ranks: '1', amount: '' }]);
  const path = `/programs/${programId}/tournaments`;
  const change = useChange<OperatorTournament>('post', path, [path, '/actions']);
  const create = async (form: FormData) => {
    const tournament = await change.run(tournamentRequestOf(form, purse));
    if (tournament !== undefined) {
      void navigate({ to: '/tournaments/$tournamentId', params: { tournamentId: tournament.id } });
    }
  };
  const list = (
    <Link to="/programs/$programId/tournaments" params={{ programId }} search={{ environment }}>
      Tournaments
    </Link>
  );
  return (
    <Page title="Create a tournament" above={list}>
      <EnvironmentBand environment={environment} />
      <Form submit="Create the tournament" change={change} onSubmit={(form) => void create(form)}>
        <Game environment={environment} onEnvironment={setEnvironment} />
        <EntryFields />
        <PurseFields groups={purse} onChange={setPurse} />
        <RoundFields />
        <p>
          With a length its first round opens at once, and players pay the entry fee
          {environment === 'live' ? ' in real money' : ' in play money'}. The house pays the purse, whatever the fees
          bring. Its terms cannot be changed afterwards: it can be paused, and closed.
        </p>
        {change.failure?.kind === 'unreachable' && (
          <p>It may have been created all the same: look at the {list} before you try again.</p>
        )}
      </Form>
    </Page>
  );
}

interface GameProps {
  readonly environment: Environment;
  readonly onEnvironment: (environment: Environment) => void;
}

function Game({ environment, onEnvironment }: GameProps): ReactNode {
  return (
    <FieldGroup title="What is played">
      <SelectField
        label="Environment"
        name="environment"
        value={environment}
        onChange={({ target }) => onEnvironment(target.value === 'live' ? 'live' : 'test')}
        options={[
          { value: 'live', label: 'Live: real players and real money' },
          { value: 'test', label: 'Test: sandbox players' },
        ]}
      />
      <Field label="Name" name="name" required />
      <div className="whole-row">
        <TextField label="Description" name="description" hint="For players. It may be empty." rows={2} />
      </div>
      <Field label="Metric" name="metric_name" hint="What the score measures: “Lap time”." required />
      <Field label="Unit of the metric" name="metric_unit" hint="As “points” or “s”." required />
      <SelectField label="Better score" name="threshold_direction" options={DIRECTIONS} />
      <Field
        label="Tiebreak"
        name="tiebreak_metric_name"
        hint="The metric that decides between equal scores, then the earlier one. Empty: the earlier alone."
      />
      <SelectField label="Better tiebreak" name="tiebreak_direction" options={DIRECTIONS} />
    </FieldGroup>
  );
}

function EntryFields(): ReactNode {
  return (
    <FieldGroup title="Entry">
      <Field
        label="Entry fee, in US dollars"
        name="entry_fee"
        hint="For each paid attempt, as 1.00."
        inputMode="decimal"
        required
      />
      <Field
        label="Paid attempts of a player in a round"
        name="attempt_cap"
        hint="The best of them counts."
        inputMode="numeric"
        required
      />
    </FieldGroup>
  );
}

function RoundFields(): ReactNode {
  return (
    <FieldGroup title="Rounds">
      <Field
        label="Length of a round"
        name="round_length_seconds"
        hint="At least 11 minutes. Rounds then open one after the other. Empty: an operator opens each."
        inputMode="decimal"
      />
      <SelectField label="Unit of the length" name="length_unit" options={LENGTH_UNITS} defaultValue="3600" />
      <Field
        label="Entrants that a round needs"
        name="min_entrants"
        hint="With fewer it is cancelled, and every fee returns."
        inputMode="numeric"
        required
      />
      <Field
        label="Scored attempts that a round needs"
        name="min_scored_attempts"
        hint="With fewer it is cancelled, and every fee returns. Empty: no minimum."
        inputMode="numeric"
      />
    </FieldGroup>
  );
}
