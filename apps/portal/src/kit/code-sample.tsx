/**
 * `<CodeSample title="List" samples={[{ name: 'curl', text }, { name: 'SDK', text }]} />`: the same
 * call in several languages, with a copy button. One sample has no tabs.
 */
import { Tabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

interface CodeSampleProps {
  readonly title: string;
  readonly samples: readonly { readonly name: string; readonly text: string }[];
}

export function CodeSample({ title, samples }: CodeSampleProps): ReactNode {
  const [first] = samples;
  return (
    <Tabs.Root className="code-sample" defaultValue={first?.name ?? null}>
      <div className="code-sample-header">
        <span className="code-sample-title">{title}</span>
        <Tabs.List className="tabs" aria-label={title}>
          {samples.map(({ name }) => (
            <Tabs.Tab key={name} value={name} className="tab">
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </div>
      {samples.map(({ name, text }) => (
        <Tabs.Panel key={name} value={name} className="code-sample-panel">
          <Code text={text} label={`${title}, ${name}`} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}

interface CodeProps {
  readonly text: string;
  /** Names the block and its copy button. */
  readonly label: string;
}

/** `<Code text="..." label="The body" />`: a block of text as it is, with a copy button. */
export function Code({ text, label }: CodeProps): ReactNode {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls is scrolled by keyboard. */}
      <section className="code-scroll" aria-label={label} tabIndex={0}>
        <pre>{text}</pre>
      </section>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}
