import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';

export function AttemptPage(): ReactNode {
  return <Page title="Attempt">{null}</Page>;
}
