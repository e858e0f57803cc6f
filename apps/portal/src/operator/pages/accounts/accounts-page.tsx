import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function AccountsPage(): ReactNode {
  return <Page title="Accounts">{null}</Page>;
}
