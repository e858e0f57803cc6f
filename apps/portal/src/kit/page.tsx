/**
 * `<Page title="Attempts" actions={<Button/>} above={<Link/>}>`: the heading of a page, its title
 * in the browser and its actions. `Section` is a part with a heading of its own.
 */
import { type ReactNode, useEffect, useId, useRef } from 'react';

interface PageProps {
  readonly title: string;
  /** A link to what the page belongs to. */
  readonly above?: ReactNode;
  /** The id or the status of the item stands beside the heading. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

let isFirstPage = true;

export function Page({ title, above, beside, actions, children }: PageProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Laurel`;
  }, [title]);
  useEffect(() => {
    // After a step to another page, a keyboard and a screen reader begin at its heading.
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return (
    <article className="page">
      {above !== undefined && <p className="above">{above}</p>}
      <header className="page-header">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {beside}
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </article>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Section({ title, actions, children }: SectionProps): ReactNode {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <header className="section-header">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
