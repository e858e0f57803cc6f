/**
 * `<NewContestPage kind="challenge" programId environment change onSubmit>fields</NewContestPage>`:
 * the page that creates a contest. `GameFields` has the fields that each kind of contest has.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment } from '../../api/api-types.ts';
import type { Change } from '../../api/use-read.ts';
import { Field, SelectField, TextField } from '../../kit/field.tsx';
import { FieldGroup, Form } from '../../kit/form.tsx';
import { Page } from '../../kit/page.tsx';
import { EnvironmentBand } from '../layout/environments.tsx';
import { type ContestKind, FOLDERS, LIST_TITLES } from './kinds.ts';

interface NewContestPageProps {
  readonly kind: ContestKind;
  readonly programId: string;
  readonly environment: Environment;
  readonly change: Pick<Change<unknown>, 'isRunning' | 'failure'>;
  readonly onSubmit: (form: FormData) => void;
  readonly children: ReactNode;
}

export function NewContestPage(props: NewContestPageProps): ReactNode {
  const { kind, programId, environment, change, onSubmit, children } = props;
  const list = (
    <Link to={`/programs/$programId/${FOLDERS[kind]}`} params={{ programId }} search={{ environment }}>
      {LIST_TITLES[kind]}
    </Link>
  );
  return (
    <Page title={`Create a ${kind}`} above={list}>
      <EnvironmentBand environment={environment} />
      <Form submit={`Create the ${kind}`} change={change} onSubmit={onSubmit}>
        {children}
        {change.failure?.kind === 'unreachable' && (
          <p>It may have been created all the same: look at the {list} before you try again.</p>
        )}
      </Form>
    </Page>
  );
}

interface GameFieldsProps {
  readonly environment: Environment;
  readonly onEnvironment: (environment: Environment) => void;
  /** The fields that only one kind of contest has. */
  readonly children: ReactNode;
}

export function GameFields({ environment, onEnvironment, children }: GameFieldsProps): ReactNode {
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
      <DirectionField label="Better score" name="threshold_direction" />
      {children}
    </FieldGroup>
  );
}

interface DirectionFieldProps {
  readonly label: string;
  readonly name: string;
}

/** Whether a higher or a lower value of a metric is better. */
export function DirectionField({ label, name }: DirectionFieldProps): ReactNode {
  return (
    <SelectField
      label={label}
      name={name}
      options={[
        { value: 'higher_is_better', label: 'Higher' },
        { value: 'lower_is_better', label: 'Lower' },
      ]}
    />
  );
}
