/**
 * `<FilterBar fields={[{ name: 'status', label: 'Status', options: ['open'] },
 * { name: 'player_ref', label: 'Player' }]} value={route.useSearch()}
 * onChange={(search) => navigate({ search })} />`.
 * A field with options is a choice, which applies at once. Any other field is a text, which applies
 * on Enter if it fits its pattern.
 */
import { type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';
import { words } from './format.ts';

interface FilterField<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly options?: readonly string[];
  readonly placeholder?: string;
  /** What the whole text has to match; `hint` says it in words. */
  readonly pattern?: string;
  readonly hint?: string;
}

type Value<Name extends string> = { readonly [N in Name]?: string | undefined };

interface FilterBarProps<Name extends string, V extends Value<Name>> {
  readonly fields: readonly FilterField<Name>[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

export function FilterBar<Name extends string, V extends Value<Name>>(props: FilterBarProps<Name, V>): ReactNode {
  const { fields, value, onChange } = props;
  const set = (name: Name, next: string) =>
    onChange({ ...value, [name]: next.trim() === '' ? undefined : next.trim() });
  return (
    // biome-ignore lint/a11y/useSemanticElements: `<search>` is not yet announced by screen readers.
    <div role="search" aria-label="Filters" className="filters">
      {fields.map((field) =>
        field.options === undefined ? (
          <TextFilter
            key={`${field.name} ${value[field.name] ?? ''}`}
            field={field}
            value={value[field.name] ?? ''}
            apply={(next) => set(field.name, next)}
          />
        ) : (
          <label key={field.name} className="filter">
            {field.label}
            <select value={value[field.name] ?? ''} onChange={(event) => set(field.name, event.target.value)}>
              <option value="">Any</option>
              {field.options.map((option) => (
                <option key={option} value={option}>
                  {words(option)}
                </option>
              ))}
            </select>
          </label>
        ),
      )}
      {fields.some(({ name }) => value[name] !== undefined) && (
        <Button onClick={() => onChange(without(value, fields))}>Clear</Button>
      )}
    </div>
  );
}

function without<V extends object>(value: V, fields: readonly FilterField<string>[]): V {
  return { ...value, ...Object.fromEntries(fields.map(({ name }) => [name, undefined])) };
}

interface TextFilterProps {
  readonly field: FilterField<string>;
  readonly value: string;
  readonly apply: (value: string) => void;
}

function TextFilter({ field, value, apply }: TextFilterProps): ReactNode {
  const id = useId();
  const [text, setText] = useState(value);
  return (
    <form
      className="filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      <label htmlFor={id}>{field.label}</label>
      <input
        id={id}
        type="search"
        value={text}
        placeholder={field.placeholder}
        onChange={(event) => setText(event.target.value)}
        pattern={field.pattern === undefined ? undefined : `\\s*${field.pattern}\\s*`}
        title={field.hint}
        onBlur={({ currentTarget: input }) => text !== value && input.validity.valid && apply(text)}
      />
    </form>
  );
}
