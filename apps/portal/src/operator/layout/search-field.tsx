/** The search in the header of every page: any id, an e-mail, or a player_ref of the program. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';

export function SearchField(): ReactNode {
  const navigate = useNavigate();
  const fieldId = useId();
  const field = useRef<HTMLInputElement>(null);
  const { programId: ofPage } = useParams({ strict: false });
  const { q = '', program_id: ofSearch } = useSearch({ strict: false });
  // A player_ref names a player only within a program: the program of the page.
  const programId = ofPage ?? ofSearch;
  useEffect(() => {
    if (field.current !== null) field.current.value = q;
  }, [q]);
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const asked = String(new FormData(event.currentTarget).get('q')).trim();
    if (asked !== '') void navigate({ to: '/search', search: { q: asked, program_id: programId } });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: `<search>` is not yet announced by screen readers.
    <form role="search" aria-label="Everything" className="header-search" onSubmit={search}>
      <label htmlFor={fieldId} className="for-screen-readers">
        Search
      </label>
      <input
        ref={field}
        id={fieldId}
        name="q"
        type="search"
        maxLength={255}
        placeholder="Any id, an e-mail or a player_ref"
        autoComplete="off"
        spellCheck={false}
      />
    </form>
  );
}
