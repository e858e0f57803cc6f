/** `<Empty title="No attempts yet">` says why there is nothing; its children name the next call. */
import type { ReactNode } from 'react';

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
}

export function Empty({ title, children }: EmptyProps): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
