import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function TournamentsPage(): ReactNode {
  return <Page title="Tournaments">{null}</Page>;
}
