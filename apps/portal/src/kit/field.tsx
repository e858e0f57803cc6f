/**
 * `<Field label="E-mail" hint="..." error="..." type="email" value onChange />`: a labelled input;
 * all other props are the input's. `SelectField` and `TextField` (several lines) are alike.
 */
import { type ComponentProps, type ReactNode, useId } from 'react';

interface Labelled {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
}

export function Field({ label, hint, error, ...input }: Labelled & ComponentProps<'input'>): ReactNode {
  const { id, describedBy, notes } = useNotes(hint, error);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input {...input} id={id} aria-describedby={describedBy} aria-invalid={error !== undefined} />
      {notes}
    </div>
  );
}

export function TextField({ label, hint, error, ...area }: Labelled & ComponentProps<'textarea'>): ReactNode {
  const { id, describedBy, notes } = useNotes(hint, error);
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

export function SelectField({ label, hint, error, options, ...select }: SelectFieldProps): ReactNode {
  const { id, describedBy, notes } = useNotes(hint, error);
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

function useNotes(hint: string | undefined, error: string | undefined) {
  const id = useId();
  const note = error ?? hint;
  return {
    id,
    describedBy: note === undefined ? undefined : `${id}-note`,
    notes: note !== undefined && (
      <p id={`${id}-note`} className={error === undefined ? 'hint' : 'field-error'}>
        {note}
      </p>
    ),
  };
}
