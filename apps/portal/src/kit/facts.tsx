/** `<Facts items={[{ label: 'Fee', value: <Money .../> }]} />`: names and values of one item. */
import type { ReactNode } from 'react';

interface FactsProps {
  readonly items: readonly { readonly label: string; readonly value: ReactNode }[];
}

export function Facts({ items }: FactsProps): ReactNode {
  return (
    <dl className="facts">
      {items.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
