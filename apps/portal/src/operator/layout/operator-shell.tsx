/** The frame of every page of an operator. */
import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SignedInOperator } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';
import { Shell } from '../../frame/shell.tsx';
import { NAVIGATION } from './navigation.ts';
import { SearchField } from './search-field.tsx';

export function OperatorShell(): ReactNode {
  const me = useRead<SignedInOperator>('/me');
  return (
    <Shell
      header={
        <>
          <span className="area">Operator</span>
          <SearchField />
          {me.state === 'loaded' && <span className="signed-in">{me.data.name}</span>}
        </>
      }
      navigation={NAVIGATION}
    >
      <Outlet />
    </Shell>
  );
}
