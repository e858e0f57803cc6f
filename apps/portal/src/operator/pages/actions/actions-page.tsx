import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorAction } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page } from '../../../kit/page.tsx';
import { More } from '../../../kit/table.tsx';
import { ActionTable } from './action-table.tsx';
import type { ActionSearch } from './search.ts';

const route = getRouteApi('/shell/actions');

const FIELDS = [
  { name: 'actor', label: 'Operator', placeholder: 'ana' },
  { name: 'action', label: 'Action', placeholder: 'approve_program' },
  { name: 'subject', label: 'Subject', placeholder: 'account:01a1…' },
] as const;

export function ActionsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const actions = useList<OperatorAction>('/actions', search);
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title="Actions">
      <p className="muted">
        Every change that an operator made or tried, written before it had any effect. No entry can be changed.
      </p>
      <FilterBar fields={FIELDS} value={search} onChange={(next) => void navigate({ search: withName(next) })} />
      <Loaded reading={actions}>
        {(list) => (
          <>
            <ActionTable
              rows={list.rows}
              empty={
                <Empty title={isFiltered ? 'No action matches these filters' : 'No operator has changed anything'} />
              }
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** An action is shown as `approve program`, and Laurel knows it as `approve_program`. */
function withName(search: ActionSearch): ActionSearch {
  return { ...search, action: search.action?.replaceAll(' ', '_') };
}
