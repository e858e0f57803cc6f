import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function AttemptsPage(): ReactNode {
  return <Page title="Attempts">{null}</Page>;
}
