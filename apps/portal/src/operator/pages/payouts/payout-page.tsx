import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function PayoutPage(): ReactNode {
  return <Page title="Payout">{null}</Page>;
}
