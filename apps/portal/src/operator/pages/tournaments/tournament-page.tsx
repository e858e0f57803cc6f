import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function TournamentPage(): ReactNode {
  return <Page title="Tournament">{null}</Page>;
}
