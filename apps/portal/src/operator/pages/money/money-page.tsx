import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function MoneyPage(): ReactNode {
  return <Page title="Money">{null}</Page>;
}
