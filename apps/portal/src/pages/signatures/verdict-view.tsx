/** `<VerdictView verdict={verdict} />`: the verdict in words, and what the signature should be. */
import type { ReactNode } from 'react';
import { Code } from '../../kit/code-sample.tsx';
import { type Finding, wordsOf } from './findings.ts';
import type { Verdict } from './verdict.ts';

const TITLES = { incomplete: 'Not checked yet', genuine: 'Genuine', refused: 'Not genuine' } as const;
const TONES = { incomplete: 'neutral', genuine: 'good', refused: 'bad' } as const;

export function VerdictView({ verdict }: { readonly verdict: Verdict | undefined }): ReactNode {
  const { result, findings, expected } = verdict ?? { result: 'incomplete', findings: [], expected: null };
  return (
    <section className="verdict" data-tone={TONES[result]} aria-label="Verdict">
      <div role="status">
        <h2>{TITLES[result]}</h2>
        <ul>
          {findings.map((finding) => (
            <FindingView key={finding.code} finding={finding} />
          ))}
        </ul>
      </div>
      {result === 'refused' && expected !== null && (
        <div className="expected">
          <p className="muted">With this secret and this body, X-Webhook-Signature would be:</p>
          <Code text={expected} label="The expected signature" />
        </div>
      )}
    </section>
  );
}

function FindingView({ finding }: { readonly finding: Finding }): ReactNode {
  const { tone, title, text } = wordsOf(finding);
  return (
    <li data-tone={tone} data-code={finding.code}>
      <h3>{withCode(title)}</h3>
      <p>{withCode(text)}</p>
    </li>
  );
}

/** Shows as code what stands between backticks. */
function withCode(text: string): readonly ReactNode[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>));
}
