import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function ChallengesPage(): ReactNode {
  return <Page title="Challenges">{null}</Page>;
}
