/**
 * `<Progress label="Scores" value={120} required={200} />`: how much of the required number is
 * there.
 */
import { type ReactNode, useId } from 'react';
import { formatCount } from './format.ts';

interface ProgressProps {
  readonly label: string;
  readonly value: number;
  readonly required: number;
}

export function Progress({ label, value, required }: ProgressProps): ReactNode {
  const id = useId();
  return (
    <div className="progress">
      <span id={id}>{label}</span>
      <span className="progress-count">
        {formatCount(value)} of {formatCount(required)}
      </span>
      <progress aria-labelledby={id} value={Math.min(value, required)} max={Math.max(1, required)} />
    </div>
  );
}
