import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function AccountPage(): ReactNode {
  return <Page title="Account">{null}</Page>;
}
