/**
 * `<Tip text={() => ['line', 'line']}>short</Tip>`: shows the lines on hover, focus and tap. They
 * are in the top layer, so no table cuts them off, and are made only when they are shown: a page
 * has hundreds of tips.
 */
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

const GAP_PX = 6;

interface TipProps {
  readonly text: () => readonly string[];
  readonly children: ReactNode;
}

export function Tip({ text, children }: TipProps): ReactNode {
  const id = useId();
  const anchor = useRef<HTMLButtonElement>(null);
  const tip = useRef<HTMLSpanElement>(null);
  const [lines, setLines] = useState<readonly string[]>([]);
  const show = () => {
    if (anchor.current === null || tip.current === null) return;
    // The lines must be rendered before the tip can be placed.
    flushSync(() => setLines(text()));
    tip.current.showPopover();
    place(tip.current, anchor.current.getBoundingClientRect());
  };
  const hide = () => tip.current?.hidePopover();
  const hideOnEscape = (event: KeyboardEvent) => event.key === 'Escape' && hide();
  return (
    <span className="tip">
      <button
        ref={anchor}
        type="button"
        className="tip-anchor"
        aria-describedby={id}
        onPointerEnter={show}
        onPointerLeave={hide}
        onFocus={show}
        onBlur={hide}
        onClick={show}
        onKeyDown={hideOnEscape}
      >
        {children}
      </button>
      <span ref={tip} id={id} role="tooltip" popover="manual" className="tip-text">
        {lines.map((line) => (
          <span key={line}>{line}</span>
        ))}
      </span>
    </span>
  );
}

/** Places the tip below the anchor, inside the window. */
function place(tip: HTMLElement, anchor: DOMRect): void {
  const { width, height } = tip.getBoundingClientRect();
  const below = anchor.bottom + GAP_PX;
  const top = below + height > window.innerHeight ? anchor.top - GAP_PX - height : below;
  tip.style.top = `${Math.max(0, top)}px`;
  tip.style.left = `${Math.max(GAP_PX, Math.min(anchor.left, window.innerWidth - width - GAP_PX))}px`;
}
