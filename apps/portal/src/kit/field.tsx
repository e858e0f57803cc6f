/**
 * `<Field label="E-mail" hint="..." error="..." type="email" value onChange />`: a labelled input;
 * all other props are the input's. `SelectField` and `TextField` (several lines) work likewise. In
 * a `<Form>` a field with a `name` shows what the server refused about it.
 */
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react';
import type { FieldErrors } from './field-errors.ts';

/** What is wrong with the fields of the form, by their names. */
export const FieldErrorsContext = createContext<FieldErrors>({});

/** Returns the server's refusal of the field with this name, or undefined. */
export function useFieldError(name: string | undefined): string | undefined {
  const errors = useContext(FieldErrorsContext);
  return name === undefined ? undefined : errors[name];
}

interface Labelled {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
}

export function Field({ label, hint, error: ownError, ...input }: Labelled & ComponentProps<'input'>): ReactNode {
  const { id, error, describedBy, notes } = useNotes(hint, ownError, input.name);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input {...input} id={id} aria-describedby={describedBy} aria-invalid={error !== undefined} />
      {notes}
    </div>
  );
}

export function TextField(props: Labelled & ComponentProps<'textarea'>): ReactNode {
  const { label, hint, error: ownError, ...area } = props;
  const { id, error, describedBy, notes } = useNotes(hint, ownError, area.name);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea {...area} id={id} aria-describedby={describedBy} aria-invalid={error !== undefined} />
      {notes}
    </div>
  );
}

interface SelectFieldProps extends Labelled, ComponentProps<'select'> {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function SelectField({ label, hint, error: ownError, options, ...select }: SelectFieldProps): ReactNode {
  const { id, error, describedBy, notes } = useNotes(hint, ownError, select.name);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select {...select} id={id} aria-describedby={describedBy} aria-invalid={error !== undefined}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {notes}
    </div>
  );
}

function useNotes(hint: string | undefined, ownError: string | undefined, name: string | undefined) {
  const id = useId();
  const serverError = useFieldError(name);
  const error = ownError ?? serverError;
  const note = error ?? hint;
  return {
    id,
    error,
    describedBy: note === undefined ? undefined : `${id}-note`,
    notes: note !== undefined && (
      <p id={`${id}-note`} className={error === undefined ? 'hint' : 'field-error'}>
        {note}
      </p>
    ),
  };
}
