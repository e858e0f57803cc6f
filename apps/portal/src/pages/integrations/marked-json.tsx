/** `<MarkedJson value mark={path} note="wrong" label="Sample" />`: JSON with one line marked. */
import type { ReactNode } from 'react';
import { lineAt, linesOf, type Path } from './json-lines.ts';

/** How many lines are shown around the marked one; a sample may have thousands. */
const AROUND = 12;

interface MarkedJsonProps {
  readonly value: unknown;
  readonly mark: Path;
  /** What is wrong with the marked line. */
  readonly note: string;
  readonly label: string;
}

export function MarkedJson({ value, mark, note, label }: MarkedJsonProps): ReactNode {
  const lines = linesOf(value);
  const marked = lineAt(lines, mark);
  const first = Math.max(0, marked - AROUND);
  const before = lines.slice(first, marked);
  const after = lines.slice(marked + 1, marked + 1 + AROUND);
  return (
    <figure className="marked-json">
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls is scrolled by keyboard. */}
      <section className="code-scroll" aria-label={label} tabIndex={0}>
        <pre>
          {first > 0 && '…\n'}
          {before.map(({ text }) => `${text}\n`)}
          <mark>
            {lines[marked]?.text}
            <span> ← {note}</span>
          </mark>
          {after.map(({ text }) => `\n${text}`)}
          {marked + after.length + 1 < lines.length && '\n…'}
        </pre>
      </section>
    </figure>
  );
}
