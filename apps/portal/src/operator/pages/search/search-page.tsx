import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function SearchPage(): ReactNode {
  return <Page title="Search">{null}</Page>;
}
