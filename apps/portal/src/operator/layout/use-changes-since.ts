import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { OperatorActionList } from '../../api/api-types.ts';
import { call, read } from '../../api/client.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { queryKeyOf, useRefresh } from '../../api/use-read.ts';
import { type ChangeSince, changesSince, type Fact, loggedOf, withAuthors } from './changes-since.ts';

/** A subject of the action log whose members the item shows. */
interface LoggedSubject {
  /** For example `program:0198...`. */
  readonly name: string;
  /** The place of the subject in the item, unless it is the item. */
  readonly asItem?: (subject: unknown) => unknown;
}

/** An item as the page showed it when the operator pressed the button. */
export interface ShownItem<T> {
  /** Reads the item as it is now. */
  readonly path: string;
  readonly shown: T;
  readonly facts: readonly Fact<T>[];
  readonly subjects: readonly LoggedSubject[];
  /** The paths to read again if the item has changed. */
  readonly affects: readonly string[];
}

interface ChangesSince<T> {
  readonly now: T;
  readonly changes: readonly ChangeSince[];
  readonly failure: Failure | undefined;
  /** Reads the item again. True if it is unchanged since the operator last saw it. */
  readonly check: () => Promise<boolean>;
}

const LOGGED_ACTIONS = 20;

/** Reads the item again at once, and whenever `check` is called. */
export function useChangesSince<T>({ path, shown, facts, subjects, affects }: ShownItem<T>): ChangesSince<T> {
  const client = useQueryClient();
  const refresh = useRefresh(affects);
  // The page may show a newer item while the dialog is open, so the dialog compares with the first.
  const [first] = useState(shown);
  const lastSeen = useRef(shown);
  const [found, setFound] = useState<{ now: T; changes: readonly ChangeSince[] }>({ now: shown, changes: [] });
  const [failure, setFailure] = useState<Failure>();

  const look = async (): Promise<boolean> => {
    const before = lastSeen.current;
    const now = await client.fetchQuery({
      queryKey: queryKeyOf(path, {}),
      queryFn: ({ signal }) => read<T>(path, { signal }),
      staleTime: 0,
    });
    if (changesSince(before, now, facts).length === 0) return true;
    const changes = changesSince(first, now, facts);
    const logged = await Promise.all(subjects.map(readLogged));
    lastSeen.current = now;
    setFound({ now, changes: withAuthors(changes, facts, logged.flat()) });
    refresh();
    return false;
  };
  const check = async () => {
    setFailure(undefined);
    try {
      return await look();
    } catch (error) {
      setFailure(failureOf(error));
      return false;
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens.
  useEffect(() => void check(), []);
  return { ...found, failure, check };
}

/** A log that cannot be read counts as empty: a change is worth showing even without its author. */
async function readLogged({ name, asItem }: LoggedSubject) {
  const query = { subject: name, limit: LOGGED_ACTIONS };
  const result = await call<OperatorActionList>('get', '/actions', { query });
  return result.ok ? loggedOf(result.data.data, asItem) : [];
}
