/** `<CopyButton text="..." label="Copy the id" />`: an icon that says when it has copied. */
import { type ReactNode, useEffect, useState } from 'react';

const CONFIRMED_MS = 2_000;

interface CopyButtonProps {
  readonly text: string;
  /** What a screen reader says: "Copy the key". */
  readonly label: string;
}

export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  return (
    <>
      <button type="button" className="copy" aria-label={label} onClick={() => void copy()}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          {state === 'copied' ? <path d="M3 8.5l3.2 3.2L13 5" /> : <path d="M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z" />}
        </svg>
      </button>
      <span role="status" className={state === 'failed' ? 'copy-failed' : 'for-screen-readers'}>
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Not copied: the browser refused' : ''}
      </span>
    </>
  );
}
