/**
 * `<ProgramChoice confirm="Search there" onChoose={(programId) => ...} />`: asks for a program by
 * its name.
 */
import { type FormEvent, type ReactNode, useState } from 'react';
import type { OperatorProgram } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { Button } from '../../kit/button.tsx';
import { Empty } from '../../kit/empty.tsx';
import { SelectField } from '../../kit/field.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { More } from '../../kit/table.tsx';

interface ProgramChoiceProps {
  /** The verb of the button. */
  readonly confirm: string;
  readonly onChoose: (programId: string) => void;
}

export function ProgramChoice({ confirm, onChoose }: ProgramChoiceProps): ReactNode {
  const programs = useList<OperatorProgram>('/programs');
  const [chosen, setChosen] = useState('');
  const choose = (event: FormEvent) => {
    event.preventDefault();
    if (chosen !== '') onChoose(chosen);
  };
  return (
    <Loaded reading={programs}>
      {(list) =>
        list.rows.length === 0 ? (
          <Empty title="There is no program yet" />
        ) : (
          <form className="form program-choice" onSubmit={choose}>
            <SelectField
              label="Program"
              value={chosen}
              onChange={(event) => setChosen(event.target.value)}
              options={[
                { value: '', label: 'Choose a program' },
                ...list.rows.map(({ id, name, status }) => ({ value: id, label: `${name} (${status})` })),
              ]}
            />
            <Button type="submit" tone="primary" isBusy={chosen === ''}>
              {confirm}
            </Button>
            <More list={list} />
          </form>
        )
      }
    </Loaded>
  );
}
