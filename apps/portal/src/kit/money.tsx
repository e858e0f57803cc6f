/** `<Money amount="5.00" />`: US dollars; null reads as a dash. */
import type { ReactNode } from 'react';
import { money } from './format.ts';

interface MoneyProps {
  /** A decimal string, as in the API. */
  readonly amount: string | null;
}

export function Money({ amount }: MoneyProps): ReactNode {
  return <span className="money">{amount === null ? '–' : money(amount)}</span>;
}
