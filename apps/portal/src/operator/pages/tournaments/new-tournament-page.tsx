import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Environment, OperatorTournament } from '../../../api/api-types.ts';
import { useChange } from '../../../api/use-read.ts';
import { Field, SelectField } from '../../../kit/field.tsx';
import { FieldGroup } from '../../../kit/form.tsx';
import { DirectionField, GameFields, NewContestPage } from '../../contests/new-contest-page.tsx';
import { PurseFields } from './purse-fields.tsx';
import type { TypedGroup } from './purse-groups.ts';
import { LENGTH_UNITS, tournamentRequestOf } from './tournament-request.ts';

const route = getRouteApi('/shell/programs/$programId/tournaments/new');

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
  return (
    <NewContestPage
      kind="tournament"
      programId={programId}
      environment={environment}
      change={change}
      onSubmit={(form) => void create(form)}
    >
      <GameFields environment={environment} onEnvironment={setEnvironment}>
        <Field
          label="Tiebreak"
          name="tiebreak_metric_name"
          hint="The metric that decides between equal scores, then the earlier one. Empty: the earlier alone."
        />
        <DirectionField label="Better tiebreak" name="tiebreak_direction" />
      </GameFields>
      <EntryFields />
      <PurseFields groups={purse} onChange={setPurse} />
      <RoundFields />
      <p>
        With a length its first round opens at once, and players pay the entry fee
        {environment === 'live' ? ' in real money' : ' in play money'}. The house pays the purse, whatever the fees
        bring. Its terms cannot be changed afterwards: it can be paused, and closed.
      </p>
    </NewContestPage>
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
