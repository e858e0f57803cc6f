import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function DevelopersPage(): ReactNode {
  return <Page title="Developers">{null}</Page>;
}
