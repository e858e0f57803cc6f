/**
 * `<Form submit="Create" change={change} onSubmit={(data) => ...}>fields</Form>`: shows what the
 * server refuses. A refusal of a field appears at the field with that `name`, and the first such
 * field gets the focus. All else appears below the fields. `FieldGroup` has fields that belong
 * together.
 */
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Change } from '../api/use-read.ts';
import { Button } from './button.tsx';
import { FieldErrorsContext } from './field.tsx';
import { placeFailure } from './field-errors.ts';
import { FailureLine } from './problem.tsx';

interface FormProps {
  /** The verb of the button. */
  readonly submit: string;
  readonly change: Pick<Change<unknown>, 'isRunning' | 'failure'>;
  readonly onSubmit: (data: FormData) => void;
  /** The cancel button of a form in a dialog calls this. */
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}

export function Form({ submit, change, onSubmit, onCancel, children }: FormProps): ReactNode {
  const form = useRef<HTMLFormElement>(null);
  const [names, setNames] = useState<readonly string[]>([]);
  const { errors, rest } = placeFailure(change.failure, names);
  useEffect(() => {
    if (change.failure === undefined) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [change.failure]);
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (change.isRunning) return;
    setNames([...event.currentTarget.elements].flatMap((element) => element.getAttribute('name') ?? []));
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form ref={form} className="form" onSubmit={send}>
      <FieldErrorsContext value={errors}>{children}</FieldErrorsContext>
      <FailureLine failure={rest} />
      <div className="dialog-actions">
        {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" tone="primary" isBusy={change.isRunning}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

interface FieldGroupProps {
  readonly title: string;
  /** The name of the list that the fields fill. A refusal of the server names this list. */
  readonly name?: string;
  readonly children: ReactNode;
}

export function FieldGroup({ title, name, children }: FieldGroupProps): ReactNode {
  return (
    <fieldset className="field-group" name={name}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}
