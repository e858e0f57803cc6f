/**
 * `<Id value="0198..." what="attempt" />`: an id with a copy button. `children` may be a link with
 * the id as its text; it then replaces the plain text.
 */
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

interface IdProps {
  readonly value: string;
  /** What the button copies, for its name: "attempt". */
  readonly what: string;
  readonly children?: ReactNode;
}

export function Id({ value, what, children }: IdProps): ReactNode {
  return (
    <span className="id">
      {children ?? <code>{value}</code>}
      <CopyButton text={value} label={`Copy the id of the ${what}`} />
    </span>
  );
}
