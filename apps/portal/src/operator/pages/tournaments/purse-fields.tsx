/** `<PurseFields groups onChange />`: what each rank is paid, in groups of successive ranks. */
import type { ReactNode } from 'react';
import { Button } from '../../../kit/button.tsx';
import { Field, useFieldError } from '../../../kit/field.tsx';
import { FieldGroup } from '../../../kit/form.tsx';
import { formatCount, money } from '../../../kit/format.ts';
import { MAX_RANKS, spansOf, type TypedGroup, totalOf } from './purse-groups.ts';
import './purse-fields.css';

interface PurseFieldsProps {
  readonly groups: readonly TypedGroup[];
  readonly onChange: (groups: readonly TypedGroup[]) => void;
}

export function PurseFields({ groups, onChange }: PurseFieldsProps): ReactNode {
  const spans = spansOf(groups);
  const total = totalOf(groups);
  const change = (key: number, changed: Partial<TypedGroup>) =>
    onChange(groups.map((group) => (group.key === key ? { ...group, ...changed } : group)));
  const add = () =>
    onChange([...groups, { key: Math.max(0, ...groups.map(({ key }) => key)) + 1, ranks: '1', amount: '' }]);
  return (
    <FieldGroup title="Purse" name="purse_table">
      {groups.map(({ key, ranks, amount }, index) => (
        <div key={key} className="purse-group whole-row">
          <Field
            label={`Ranks of group ${index + 1}`}
            hint={rankWords(spans[index])}
            type="number"
            min={1}
            max={MAX_RANKS}
            required
            value={ranks}
            onChange={({ target }) => change(key, { ranks: target.value })}
          />
          <Field
            label={`Payout of each, in US dollars, group ${index + 1}`}
            hint="As 5.00; at most the payout before it."
            inputMode="decimal"
            required
            value={amount}
            onChange={({ target }) => change(key, { amount: target.value })}
          />
          {groups.length > 1 && (
            <Button
              aria-label={`Remove group ${index + 1}`}
              onClick={() => onChange(groups.filter((group) => group.key !== key))}
            >
              Remove
            </Button>
          )}
        </div>
      ))}
      <PurseError />
      <p className="whole-row">
        <Button onClick={add}>Add a group of ranks</Button> {total !== null && <>In all {money(total)}.</>}
      </p>
    </FieldGroup>
  );
}

function PurseError(): ReactNode {
  const error = useFieldError('purse_table');
  return (
    error !== undefined && (
      <p className="field-error whole-row" role="alert">
        {error}
      </p>
    )
  );
}

function rankWords(span: { readonly first: number; readonly last: number } | undefined): string {
  if (span === undefined || span.last < span.first) return 'How many ranks get it.';
  if (span.first === span.last) return `Rank ${formatCount(span.first)}.`;
  return `Ranks ${formatCount(span.first)} to ${formatCount(span.last)}.`;
}
