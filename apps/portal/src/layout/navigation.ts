/** The pages of the side bar. The first is where a program opens. */
import type { LinkProps } from '@tanstack/react-router';

export interface NavigationEntry {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
}

export const NAVIGATION: readonly NavigationEntry[] = [
  { to: '/p/$programId/$environment/overview', label: 'Overview' },
  { to: '/p/$programId/$environment/challenges', label: 'Challenges' },
  { to: '/p/$programId/$environment/tournaments', label: 'Tournaments' },
  { to: '/p/$programId/$environment/attempts', label: 'Attempts' },
  { to: '/p/$programId/$environment/requests', label: 'Requests' },
  { to: '/p/$programId/$environment/webhooks', label: 'Webhooks' },
  { to: '/p/$programId/$environment/events', label: 'Events' },
  { to: '/p/$programId/$environment/signatures', label: 'Signatures' },
  { to: '/p/$programId/$environment/integrations', label: 'Integrations' },
  { to: '/p/$programId/$environment/sandbox', label: 'Sandbox' },
  { to: '/p/$programId/$environment/keys', label: 'API keys' },
];
