import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function RoundPage(): ReactNode {
  return <Page title="Round">{null}</Page>;
}
