import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function ChallengePage(): ReactNode {
  return <Page title="Challenge">{null}</Page>;
}
