/**
 * `<ConfirmItemDialog item={{ path, shown, facts, subjects, affects }} allows={...} ...>`: a
 * `ConfirmDialog` that reads its item when it opens and again before it acts. If the item is no
 * longer what the page showed, it says what has changed, and the operator decides again. It stays
 * mounted while the page is refreshed behind it, whatever the page then offers.
 */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Failure } from '../../api/failure.ts';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Time } from '../../kit/time.tsx';
import type { ChangeSince } from './changes-since.ts';
import { type ShownItem, useChangesSince } from './use-changes-since.ts';

interface ConfirmItemDialogProps<T> {
  readonly item: ShownItem<T>;
  /** Whether the action is still possible. */
  readonly allows: (now: T) => boolean;
  readonly title: string;
  readonly consequence: ReactNode;
  readonly confirm: string;
  readonly tone: 'primary' | 'danger';
  readonly isBusy: boolean;
  readonly failure: Failure | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function ConfirmItemDialog<T>({
  item,
  allows,
  isBusy,
  failure,
  onConfirm,
  children,
  ...dialog
}: ConfirmItemDialogProps<T>): ReactNode {
  const since = useChangesSince(item);
  const isPossible = allows(since.now);
  const isOpen = useIsMounted();
  const [isChecking, setChecking] = useState(false);
  const { check } = since;
  // A refused change has a cause: another operator was first.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each refusal.
  useEffect(() => {
    if (failure !== undefined) void check();
  }, [failure]);
  const confirm = async () => {
    setChecking(true);
    const isUnchanged = await check();
    setChecking(false);
    // An operator who has closed the dialog meanwhile has decided against it.
    if (isUnchanged && isOpen.current) onConfirm();
  };
  return (
    <ConfirmDialog
      {...dialog}
      isOpen
      isBusy={isBusy || isChecking || !isPossible}
      failure={failure ?? since.failure}
      onConfirm={() => void confirm()}
    >
      <div role="status">
        {since.changes.length > 0 && (
          <Changes changes={since.changes} {...(isPossible ? {} : { impossible: dialog.confirm })} />
        )}
      </div>
      {children}
    </ConfirmDialog>
  );
}

function useIsMounted() {
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return isMounted;
}

interface ChangesProps {
  readonly changes: readonly ChangeSince[];
  /** The verb of the action that is no longer possible. */
  readonly impossible?: string;
}

function Changes({ changes, impossible }: ChangesProps): ReactNode {
  return (
    <div className="changes-since">
      <p>
        <strong>This has changed since the page was read:</strong>
      </p>
      <ul>
        {changes.map(({ label, from, to, by }) => (
          <li key={label}>
            {label}: {from} → {to}
            {by !== null && (
              <>
                , by {by.operator} <Time at={by.at} />
              </>
            )}
          </li>
        ))}
      </ul>
      {impossible !== undefined && <p>“{impossible}” is not possible any more.</p>}
    </div>
  );
}
